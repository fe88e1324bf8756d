/* The device model by a platform driver: probe, remove, power management, and data that its device hands over. */
#include <linux/init.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/platform_device.h>
#include <linux/pm.h>
#include <linux/slab.h>
#include <linux/version.h>

struct devicemodel_data {
	char *greeting;
	int number;
};

static int devicemodel_probe(struct platform_device *dev)
{
	struct devicemodel_data *pd = (struct devicemodel_data *)(dev->dev.platform_data);
	int *state = devm_kzalloc(&dev->dev, sizeof(*state), GFP_KERNEL);

	if (!pd || !state)
		return -EINVAL;
	*state = pd->number * 2;
	platform_set_drvdata(dev, state);
	pr_info("devicemodel probe, greeting: %s; %d\n", pd->greeting, pd->number);
	return 0;
}

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 11, 0)
static int devicemodel_remove(struct platform_device *dev)
#else
static void devicemodel_remove(struct platform_device *dev)
#endif
{
	int *state = platform_get_drvdata(dev);

	pr_info("devicemodel removed %s with %d\n", dev_name(&dev->dev), *state);
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 11, 0)
	return 0;
#endif
}

static int devicemodel_suspend(struct device *dev)
{
	return 0;
}

static int devicemodel_resume(struct device *dev)
{
	return 0;
}

static const struct dev_pm_ops devicemodel_pm_ops = {
	.suspend = devicemodel_suspend,
	.resume = devicemodel_resume,
	.poweroff = devicemodel_suspend,
	.freeze = devicemodel_suspend,
	.thaw = devicemodel_resume,
	.restore = devicemodel_resume,
};

static struct platform_driver devicemodel_driver = {
	.driver = { .name = "devicemodel_example", .pm = &devicemodel_pm_ops },
	.probe = devicemodel_probe,
	.remove = devicemodel_remove,
};

static struct platform_device *device;

static int __init devicemodel_init(void)
{
	struct devicemodel_data data = { .greeting = "hello", .number = 21 };
	int ret = platform_driver_register(&devicemodel_driver);

	if (ret) {
		pr_err("unable to register driver\n");
		return ret;
	}
	device = platform_device_alloc("devicemodel_example", PLATFORM_DEVID_NONE);
	if (!device)
		return -ENOMEM;
	ret = platform_device_add_data(device, &data, sizeof(data)) ?: platform_device_add(device);
	if (ret)
		platform_device_put(device);
	return ret;
}

static void __exit devicemodel_exit(void)
{
	platform_device_unregister(device);
	platform_driver_unregister(&devicemodel_driver);
}

module_init(devicemodel_init);
module_exit(devicemodel_exit);
MODULE_LICENSE("GPL");
