/* The macro that makes a module of a platform driver. */
#include <linux/module.h>
#include <linux/platform_device.h>

static struct platform_driver driver = { .driver = { .name = "every" } };
module_platform_driver(driver);
MODULE_LICENSE("GPL");
