/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Drivers of devices, and the bus that brings them together. */
#ifndef _LINUX_DEVICE_DRIVER_H
#define _LINUX_DEVICE_DRIVER_H

#include <linux/kobject.h>
#include <linux/module.h>

struct completion;
struct device;

struct bus_type {
	const char *name;
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
	int (*probe)(struct device *dev);
	int (*remove)(struct device *dev);
	const struct attribute_group **groups;
	const struct attribute_group **dev_groups;
};

/* A module whose init and exit do nothing but this. */
#define module_driver(drv, register, unregister, ...) \
	static int __init drv##_init(void) { return register(&(drv), ##__VA_ARGS__); } \
	module_init(drv##_init); \
	static void __exit drv##_exit(void) { unregister(&(drv), ##__VA_ARGS__); } \
	module_exit(drv##_exit)

#endif
