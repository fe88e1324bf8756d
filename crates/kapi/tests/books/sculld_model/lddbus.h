/* What drivers and devices of the bus are made of. */
#ifndef LDDBUS_H
#define LDDBUS_H

#include <linux/device.h>

struct ldd_driver {
	char *version;
	struct module *module;
	struct device_driver driver;
	struct driver_attribute version_attr;
};

struct ldd_device {
	char *name;
	struct ldd_driver *driver;
	struct device dev;
};

#define to_ldd_driver(drv) container_of(drv, struct ldd_driver, driver)
#define to_ldd_device(d) container_of(d, struct ldd_device, dev)

extern int register_ldd_device(struct ldd_device *device);
extern void unregister_ldd_device(struct ldd_device *device);
extern int register_ldd_driver(struct ldd_driver *driver);
extern void unregister_ldd_driver(struct ldd_driver *driver);
extern struct bus_type ldd_bus_type;

#endif
