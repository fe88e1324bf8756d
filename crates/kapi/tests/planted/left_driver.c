// left behind: the driver `planted` is still there
#include <linux/module.h>
#include <linux/device.h>

static struct bus_type bus = { .name = "planted_bus" };
static struct device_driver driver = { .name = "planted", .bus = &bus, .owner = THIS_MODULE };

static int __init begin(void)
{
	int error = bus_register(&bus);

	return error ?: driver_register(&driver); // in
}

static void __exit end(void)
{
	bus_unregister(&bus);
}

module_init(begin);
module_exit(end);
MODULE_LICENSE("GPL");
