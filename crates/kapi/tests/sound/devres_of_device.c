// Nothing is wrong here: devres of device.
#include <linux/module.h>
#include <linux/device.h>
#include <linux/slab.h>
#include <linux/platform_device.h>
#include <linux/workqueue.h>

static struct platform_device *device;

static void undo(void *data)
{
	kfree(data);
}

static int __init begin(void)
{
	void *p;

	device = platform_device_register_simple("sound", 0, NULL, 0);
	if (IS_ERR(device))
		return PTR_ERR(device);
	if (!devm_kzalloc(&device->dev, 100, GFP_KERNEL) || !devm_kstrdup(&device->dev, "name", GFP_KERNEL))
		return -ENOMEM;
	p = kmalloc(10, GFP_KERNEL);
	return p ? devm_add_action_or_reset(&device->dev, undo, p) : -ENOMEM;
}

static void __exit end(void)
{
	platform_device_unregister(device);
}

module_init(begin);
module_exit(end);
MODULE_LICENSE("GPL");
