// left behind: the bus `planted` is still there
#include <linux/module.h>
#include <linux/device.h>

static struct bus_type bus = { .name = "planted" };

static int __init begin(void)
{
	return bus_register(&bus); // in
}

static void __exit end(void)
{
}

module_init(begin);
module_exit(end);
MODULE_LICENSE("GPL");
