// left behind: the device `planted` is still there
#include <linux/module.h>
#include <linux/platform_device.h>

static int __init begin(void)
{
	return PTR_ERR_OR_ZERO(platform_device_register_simple("planted", -1, NULL, 0)); // in
}

static void __exit end(void)
{
}

module_init(begin);
module_exit(end);
MODULE_LICENSE("GPL");
