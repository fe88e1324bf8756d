// left behind: the platform driver `planted` is still there
#include <linux/module.h>
#include <linux/platform_device.h>

static int probe(struct platform_device *pdev)
{
	return 0;
}

static struct platform_driver driver = { .probe = probe, .driver = { .name = "planted" } };

static int __init begin(void)
{
	return platform_driver_register(&driver); // in
}

static void __exit end(void)
{
}

module_init(begin);
module_exit(end);
MODULE_LICENSE("GPL");
