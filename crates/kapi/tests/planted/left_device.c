// left behind: the device `planted0` is still there
#include <linux/module.h>
#include <linux/device.h>

static struct class *class;

static int __init begin(void)
{
	struct device *device;

#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 4, 0)
	class = class_create("planted");
#else
	class = class_create(THIS_MODULE, "planted");
#endif
	if (IS_ERR(class))
		return PTR_ERR(class);
	device = device_create(class, NULL, MKDEV(240, 0), NULL, "planted%d", 0); // in
	return PTR_ERR_OR_ZERO(device);
}

static void __exit end(void)
{
	class_destroy(class);
}

module_init(begin);
module_exit(end);
MODULE_LICENSE("GPL");
