/* A bus of the module's own, with a driver and a device that it brings together by name, in the manner of a driver book. */
#include <linux/device.h>
#include <linux/init.h>
#include <linux/kdev_t.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/string.h>
#include <linux/version.h>

struct line_driver {
	const char *version;
	struct device_driver driver;
	struct driver_attribute version_attr;
};

struct line_device {
	const char *name;
	struct device dev;
};

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 3, 0)
static int line_uevent(struct device *dev, struct kobj_uevent_env *env)
#else
static int line_uevent(const struct device *dev, struct kobj_uevent_env *env)
#endif
{
	return add_uevent_var(env, "LINE_VERSION=%s", "1") ? -ENOMEM : 0;
}

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 11, 0)
static int line_match(struct device *dev, struct device_driver *driver)
#else
static int line_match(struct device *dev, const struct device_driver *driver)
#endif
{
	return !strncmp(dev_name(dev), driver->name, strlen(driver->name));
}

static struct bus_type line_bus_type = { .name = "line", .match = line_match, .uevent = line_uevent };

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 4, 0)
static ssize_t version_show(struct bus_type *bus, char *buf)
#else
static ssize_t version_show(const struct bus_type *bus, char *buf)
#endif
{
	return scnprintf(buf, PAGE_SIZE, "bus %s\n", bus->name);
}

static BUS_ATTR_RO(version);

static void line_bus_release(struct device *dev)
{
	pr_info("line: the bus device goes\n");
}

static struct device line_bus = { .release = line_bus_release };

static ssize_t show_version(struct device_driver *driver, char *buf)
{
	struct line_driver *line = container_of(driver, struct line_driver, driver);

	return sprintf(buf, "driver %s\n", line->version);
}

static int line_probe(struct device *dev)
{
	pr_info("line: probed %s\n", dev_name(dev));
	return 0;
}

static int line_remove(struct device *dev)
{
	pr_info("line: removed %s\n", dev_name(dev));
	return 0;
}

static struct line_driver line_driver = {
	.version = "2.1",
	.driver = { .name = "unit", .bus = &line_bus_type, .probe = line_probe, .remove = line_remove },
};

static void line_device_release(struct device *dev)
{
}

static struct line_device units[] = { { .name = "unit0" }, { .name = "other0" } };

static ssize_t number_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	return print_dev_t(buf, MKDEV(240, (unsigned int)(container_of(dev, struct line_device, dev) - units)));
}

static DEVICE_ATTR_RO(number);

static int count_one(struct device *dev, void *count)
{
	++*(int *)count;
	return 0;
}

static int __init line_init(void)
{
	int i, count = 0, result = bus_register(&line_bus_type);

	if (result)
		return result;
	result = bus_create_file(&line_bus_type, &bus_attr_version);
	dev_set_name(&line_bus, "line");
	if (!result)
		result = device_register(&line_bus);
	if (!result)
		result = driver_register(&line_driver.driver);
	line_driver.version_attr.attr.name = "version";
	line_driver.version_attr.attr.mode = S_IRUGO;
	line_driver.version_attr.show = show_version;
	if (!result)
		result = driver_create_file(&line_driver.driver, &line_driver.version_attr);
	for (i = 0; i < ARRAY_SIZE(units) && !result; i++) {
		units[i].dev.bus = &line_bus_type;
		units[i].dev.parent = &line_bus;
		units[i].dev.release = line_device_release;
		dev_set_name(&units[i].dev, "%s", units[i].name);
		result = device_register(&units[i].dev);
		if (!result)
			result = device_create_file(&units[i].dev, &dev_attr_number);
	}
	bus_for_each_dev(&line_bus_type, NULL, &count, count_one);
	pr_info("line: %d devices, bound %d %d\n", count, units[0].dev.driver != NULL, units[1].dev.driver != NULL);
	return result;
}

static void __exit line_exit(void)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(units); i++)
		device_unregister(&units[i].dev);
	driver_unregister(&line_driver.driver);
	device_unregister(&line_bus);
	bus_unregister(&line_bus_type);
}

module_init(line_init);
module_exit(line_exit);
MODULE_LICENSE("Dual BSD/GPL");
