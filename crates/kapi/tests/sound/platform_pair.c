// Nothing is wrong here: platform pair.
#include <linux/module.h>
#include <linux/platform_device.h>
#include <linux/slab.h>

static int probe(struct platform_device *pdev)
{
	int *value = devm_kzalloc(&pdev->dev, sizeof(*value), GFP_KERNEL);

	if (!value)
		return -ENOMEM;
	platform_set_drvdata(pdev, value);
	return 0;
}

static struct platform_driver driver = { .probe = probe, .driver = { .name = "sound" } };
static struct platform_device *device;

static int __init begin(void)
{
	int result = platform_driver_register(&driver);

	if (result)
		return result;
	device = platform_device_register_simple("sound", -1, NULL, 0);
	return PTR_ERR_OR_ZERO(device);
}

static void __exit end(void)
{
	platform_device_unregister(device);
	platform_driver_unregister(&driver);
}

module_init(begin);
module_exit(end);
MODULE_LICENSE("GPL");
