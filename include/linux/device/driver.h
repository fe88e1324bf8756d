/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Drivers of devices, and the bus that brings them together. */
#ifndef _LINUX_DEVICE_DRIVER_H
#define _LINUX_DEVICE_DRIVER_H

#include <linux/kobject.h>
#include <linux/module.h>
#include <linux/version.h>

struct completion;
struct device;

struct device_driver;
struct kobj_uevent_env;

/* Who matches changes no driver since 6.11, and who tells of a device changes none since 6.3. */
struct bus_type {
	const char *name, *dev_name;
	const struct attribute_group **bus_groups, **dev_groups, **drv_groups;
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 11, 0)
	int (*match)(struct device *dev, const struct device_driver *driver);
#else
	int (*match)(struct device *dev, struct device_driver *driver);
#endif
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 3, 0)
	int (*uevent)(const struct device *dev, struct kobj_uevent_env *env);
#else
	int (*uevent)(struct device *dev, struct kobj_uevent_env *env);
#endif
	int (*probe)(struct device *dev);
	void (*remove)(struct device *dev);
	void (*shutdown)(struct device *dev);
};

struct of_device_id {
	char name[32];
	char type[32];
	char compatible[128];
	const void *data;
};

struct dev_pm_ops;
enum probe_type {
	PROBE_DEFAULT_STRATEGY,
	PROBE_PREFER_ASYNCHRONOUS,
	PROBE_FORCE_SYNCHRONOUS
};

struct device_driver {
	const char *name;
	const struct bus_type *bus;
	struct module *owner;
	bool suppress_bind_attrs;
	enum probe_type probe_type;
	const struct of_device_id *of_match_table;
	const struct dev_pm_ops *pm;
	const struct attribute_group **groups;
	const struct attribute_group **dev_groups;
	int (*probe)(struct device *dev);
	int (*remove)(struct device *dev);
	void (*shutdown)(struct device *dev);
};

extern int driver_register(struct device_driver *driver);
extern void driver_unregister(struct device_driver *driver);
extern int bus_register(const struct bus_type *bus);
extern void bus_unregister(const struct bus_type *bus);
extern int bus_for_each_dev(const struct bus_type *bus, struct device *start, void *data,
			    int (*fn)(struct device *dev, void *data));

struct driver_attribute {
	struct attribute attr;
	ssize_t (*show)(struct device_driver *driver, char *buf);
	ssize_t (*store)(struct device_driver *driver, const char *buf, size_t count);
};
#define DRIVER_ATTR_RW(_name) struct driver_attribute driver_attr_##_name = __ATTR_RW(_name)
#define DRIVER_ATTR_RO(_name) struct driver_attribute driver_attr_##_name = __ATTR_RO(_name)
#define DRIVER_ATTR_WO(_name) struct driver_attribute driver_attr_##_name = __ATTR_WO(_name)
extern int driver_create_file(const struct device_driver *driver, const struct driver_attribute *attr);
extern void driver_remove_file(const struct device_driver *driver, const struct driver_attribute *attr);

/* The bus is no attribute's to change since 6.4. */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 4, 0)
#define __KAPI_BUS const struct bus_type
#else
#define __KAPI_BUS struct bus_type
#endif
struct bus_attribute {
	struct attribute attr;
	ssize_t (*show)(__KAPI_BUS *bus, char *buf);
	ssize_t (*store)(__KAPI_BUS *bus, const char *buf, size_t count);
};
#define BUS_ATTR(_name, _mode, _show, _store) \
	struct bus_attribute bus_attr_##_name = __ATTR(_name, _mode, _show, _store)
#define BUS_ATTR_RW(_name) struct bus_attribute bus_attr_##_name = __ATTR_RW(_name)
#define BUS_ATTR_RO(_name) struct bus_attribute bus_attr_##_name = __ATTR_RO(_name)
#define BUS_ATTR_WO(_name) struct bus_attribute bus_attr_##_name = __ATTR_WO(_name)
extern int bus_create_file(const struct bus_type *bus, struct bus_attribute *attr);
extern void bus_remove_file(const struct bus_type *bus, struct bus_attribute *attr);

/* A module whose init and exit do nothing but this. */
#define module_driver(drv, register, unregister, ...) \
	static int __init drv##_init(void) { return register(&(drv), ##__VA_ARGS__); } \
	module_init(drv##_init); \
	static void __exit drv##_exit(void) { unregister(&(drv), ##__VA_ARGS__); } \
	module_exit(drv##_exit)

#endif
