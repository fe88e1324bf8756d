// SPDX-License-Identifier: MIT OR Apache-2.0
// Buses that modules make, with their devices and drivers, and how these find each other.
//
// How it works: a bus that is registered has a record with its folder under /sys/bus; a device of it is in the record's
// list from device_add() on. Who comes second, device or driver, looks for the other by the bus's own match().
#include "host.h"
#include <linux/device.h>
#include <linux/kernel.h>
#include <linux/mutex.h>
#include <linux/proc_fs.h>

struct bus {
	struct list_head list, devices, drivers;
	const struct bus_type *type;
	struct kobject kobj, *folder;
};

struct bound {
	struct list_head list;
	struct device_driver *driver;
	struct kobject kobj;
};

static LIST_HEAD(buses);
static DEFINE_MUTEX(lists);

static struct bus *bus_of(const struct bus_type *type)
{
	struct bus *bus;

	list_for_each_entry(bus, &buses, list)
		if (bus->type == type)
			return bus;
	return NULL;
}

static struct bound *bound_of(const struct device_driver *driver)
{
	struct bus *bus = bus_of(driver->bus);
	struct bound *bound;

	if (bus)
		list_for_each_entry(bound, &bus->drivers, list)
			if (bound->driver == driver)
				return bound;
	return NULL;
}

/* Attributes get what their folder stands for. */
#define SYSFS_OPS(kind, type, of) \
	static ssize_t kind##_show(struct kobject *kobj, struct attribute *attr, char *buf) \
	{ \
		struct type##_attribute *at = container_of(attr, struct type##_attribute, attr); \
		return at->show ? at->show(of, buf) : -EIO; \
	} \
	static ssize_t kind##_store(struct kobject *kobj, struct attribute *attr, const char *buf, size_t len) \
	{ \
		struct type##_attribute *at = container_of(attr, struct type##_attribute, attr); \
		return at->store ? at->store(of, buf, len) : -EIO; \
	} \
	static const struct sysfs_ops kind##_ops = { .show = kind##_show, .store = kind##_store }; \
	static const struct kobj_type kind##_type = { .sysfs_ops = &kind##_ops }

SYSFS_OPS(bus, bus, (void *)container_of(kobj, struct bus, kobj)->type);
SYSFS_OPS(driver, driver, container_of(kobj, struct bound, kobj)->driver);

static bool attach(struct device *dev, struct device_driver *driver)
{
	const struct bus_type *bus = driver->bus;
	int error;

	if (dev->driver || (bus->match && !bus->match(dev, driver)))
		return false;
	dev->driver = driver;
	error = bus->probe ? bus->probe(dev) : driver->probe ? driver->probe(dev) : 0;
	if (!error)
		return true;
	if (error != -ENODEV && error != -ENXIO && error != -EPROBE_DEFER)
		pr_err("%s: probe with driver %s failed with error %d\n", dev_name(dev), driver->name, error);
	devres_release_all(dev);
	dev->driver = NULL;
	return false;
}

static void detach(struct device *dev)
{
	struct device_driver *driver = dev->driver;

	if (!driver)
		return;
	if (driver->bus->remove)
		driver->bus->remove(dev);
	else if (driver->remove)
		driver->remove(dev);
	devres_release_all(dev);
	dev->driver = NULL;
}

/* Of device_add() and device_del(); a device whose bus no module made has others who care. */
void kapi_bus_add(struct device *dev)
{
	struct bus *bus = dev->bus ? bus_of(dev->bus) : NULL;
	struct bound *bound;

	if (!bus)
		return;
	mutex_lock(&lists);
	list_add_tail(&dev->kapi_on_bus, &bus->devices);
	mutex_unlock(&lists);
	list_for_each_entry(bound, &bus->drivers, list)
		if (attach(dev, bound->driver))
			break;
}

void kapi_bus_del(struct device *dev)
{
	if (!dev->bus || !bus_of(dev->bus))
		return;
	detach(dev);
	mutex_lock(&lists);
	list_del_init(&dev->kapi_on_bus);
	mutex_unlock(&lists);
}

int bus_register(const struct bus_type *type)
{
	struct bus *bus = kapi_alloc(sizeof(*bus));

	might_sleep();
	if (!bus)
		return -ENOMEM;
	*bus = (struct bus){ .type = type, .kobj = { .ktype = &bus_type } };
	INIT_LIST_HEAD(&bus->devices);
	INIT_LIST_HEAD(&bus->drivers);
	bus->folder = kapi_folder_kobj(kapi_bus_kobj(), type->name);
	if (!bus->folder) {
		kapi_free(bus, sizeof(*bus));
		return -ENOMEM;
	}
	bus->kobj.sd = bus->folder->sd;
	list_add_tail(&bus->list, &buses);
	kapi_stands(type, "the bus", type->name);
	return sysfs_create_groups(&bus->kobj, type->bus_groups);
}

void bus_unregister(const struct bus_type *type)
{
	struct bus *bus = bus_of(type);

	if (WARN_ON(!bus))
		return;
	kapi_gone(type);
	list_del(&bus->list);
	kapi_folder_remove(bus->folder);
	kapi_free(bus, sizeof(*bus));
}

int bus_create_file(const struct bus_type *type, struct bus_attribute *attr)
{
	struct bus *bus = bus_of(type);

	return bus ? sysfs_create_file(&bus->kobj, &attr->attr) : -EINVAL;
}

void bus_remove_file(const struct bus_type *type, struct bus_attribute *attr)
{
	struct bus *bus = bus_of(type);

	if (bus)
		sysfs_remove_file(&bus->kobj, &attr->attr);
}

int bus_for_each_dev(const struct bus_type *type, struct device *start, void *data,
		     int (*fn)(struct device *dev, void *data))
{
	struct bus *bus = bus_of(type);
	struct device *dev, *next;
	int result = 0;

	if (!bus)
		return -EINVAL;
	list_for_each_entry_safe(dev, next, &bus->devices, kapi_on_bus) {
		if (start) {
			start = start == dev ? NULL : start;
			continue;
		}
		result = fn(dev, data);
		if (result)
			break;
	}
	return result;
}

int driver_register(struct device_driver *driver)
{
	struct bus *bus = bus_of(driver->bus);
	struct device *dev, *next;
	struct bound *bound;

	might_sleep();
	if (!bus) {
		pr_err("Driver '%s' was unable to register with bus_type because the bus was not initialized.\n",
		       driver->name);
		return -EINVAL;
	}
	bound = kapi_alloc(sizeof(*bound));
	if (!bound)
		return -ENOMEM;
	*bound = (struct bound){ .driver = driver, .kobj = { .ktype = &driver_type } };
	bound->kobj.sd = kapi_proc_folder(driver->name, kapi_proc_folder("drivers", bus->folder->sd));
	list_add_tail(&bound->list, &bus->drivers);
	kapi_stands(driver, "the driver", driver->name);
	list_for_each_entry_safe(dev, next, &bus->devices, kapi_on_bus)
		attach(dev, driver);
	return sysfs_create_groups(&bound->kobj, driver->groups);
}

void driver_unregister(struct device_driver *driver)
{
	struct bound *bound = bound_of(driver);
	struct device *dev, *next;

	if (WARN(!bound, "Unexpected driver unregister!\n"))
		return;
	list_for_each_entry_safe(dev, next, &bus_of(driver->bus)->devices, kapi_on_bus)
		if (dev->driver == driver)
			detach(dev);
	kapi_gone(driver);
	list_del(&bound->list);
	proc_remove(bound->kobj.sd);
	kapi_free(bound, sizeof(*bound));
}

int driver_create_file(const struct device_driver *driver, const struct driver_attribute *attr)
{
	struct bound *bound = driver ? bound_of(driver) : NULL;

	return bound ? sysfs_create_file(&bound->kobj, &attr->attr) : -EINVAL;
}

void driver_remove_file(const struct device_driver *driver, const struct driver_attribute *attr)
{
	struct bound *bound = driver ? bound_of(driver) : NULL;

	if (bound)
		sysfs_remove_file(&bound->kobj, &attr->attr);
}

/* A variable of an event, which nobody sends. */
int add_uevent_var(struct kobj_uevent_env *env, const char *fmt, ...)
{
	size_t room = sizeof(env->buf) - (size_t)env->buflen;
	int len;

	if (env->envp_idx >= (int)ARRAY_SIZE(env->envp))
		return -ENOMEM;
	len = WITH_ARGS(fmt, vsnprintf(env->buf + env->buflen, room, fmt, args));
	if (len >= (int)room)
		return -ENOMEM;
	env->envp[env->envp_idx++] = env->buf + env->buflen;
	env->buflen += len + 1;
	return 0;
}
