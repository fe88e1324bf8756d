/* A virtual bus whose devices and drivers belong together when their names begin alike. */
#include <linux/device.h>
#include <linux/init.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/version.h>
#include "lddbus.h"

MODULE_LICENSE("Dual BSD/GPL");

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 3, 0)
static int ldd_uevent(struct device *dev, struct kobj_uevent_env *env)
#else
static int ldd_uevent(const struct device *dev, struct kobj_uevent_env *env)
#endif
{
	return add_uevent_var(env, "LDDBUS_VERSION=%s", "2") ? -ENOMEM : 0;
}

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 11, 0)
static int ldd_match(struct device *dev, struct device_driver *driver)
#else
static int ldd_match(struct device *dev, const struct device_driver *driver)
#endif
{
	return !strncmp(dev_name(dev), driver->name, strlen(driver->name));
}

struct bus_type ldd_bus_type = { .name = "ldd", .match = ldd_match, .uevent = ldd_uevent };
EXPORT_SYMBOL(ldd_bus_type);

static void ldd_bus_release(struct device *dev)
{
	printk(KERN_DEBUG "lddbus release\n");
}

static struct device ldd_bus = { .init_name = "ldd0", .release = ldd_bus_release };

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 4, 0)
static ssize_t version_show(struct bus_type *bus, char *buf)
#else
static ssize_t version_show(const struct bus_type *bus, char *buf)
#endif
{
	return snprintf(buf, PAGE_SIZE, "%s\n", "bus 2");
}

static BUS_ATTR_RO(version);

static void ldd_dev_release(struct device *dev)
{
	printk(KERN_DEBUG "%s is released\n", dev_name(dev));
}

int register_ldd_device(struct ldd_device *ldddev)
{
	ldddev->dev.bus = &ldd_bus_type;
	ldddev->dev.parent = &ldd_bus;
	ldddev->dev.release = ldd_dev_release;
	dev_set_name(&ldddev->dev, "%s", ldddev->name);
	return device_register(&ldddev->dev);
}
EXPORT_SYMBOL(register_ldd_device);

void unregister_ldd_device(struct ldd_device *ldddev)
{
	device_unregister(&ldddev->dev);
}
EXPORT_SYMBOL(unregister_ldd_device);

static ssize_t show_version(struct device_driver *driver, char *buf)
{
	struct ldd_driver *ldriver = to_ldd_driver(driver);

	sprintf(buf, "%s\n", ldriver->version);
	return strlen(buf);
}

int register_ldd_driver(struct ldd_driver *driver)
{
	int ret;

	driver->driver.bus = &ldd_bus_type;
	ret = driver_register(&driver->driver);
	if (ret)
		return ret;
	driver->version_attr.attr.name = "version";
	driver->version_attr.attr.mode = S_IRUGO;
	driver->version_attr.show = show_version;
	driver->version_attr.store = NULL;
	return driver_create_file(&driver->driver, &driver->version_attr);
}
EXPORT_SYMBOL_GPL(register_ldd_driver);

void unregister_ldd_driver(struct ldd_driver *driver)
{
	driver_unregister(&driver->driver);
}
EXPORT_SYMBOL_GPL(unregister_ldd_driver);

static int __init ldd_bus_init(void)
{
	int ret = bus_register(&ldd_bus_type);

	if (ret)
		return ret;
	if (bus_create_file(&ldd_bus_type, &bus_attr_version))
		printk(KERN_NOTICE "Unable to create version attribute\n");
	ret = device_register(&ldd_bus);
	if (ret)
		printk(KERN_NOTICE "Unable to register ldd0\n");
	return ret;
}

static void ldd_bus_exit(void)
{
	device_unregister(&ldd_bus);
	bus_unregister(&ldd_bus_type);
}

module_init(ldd_bus_init);
module_exit(ldd_bus_exit);
