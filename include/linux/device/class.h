/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Classes of devices: folders under /sys/class. */
#ifndef _LINUX_DEVICE_CLASS_H
#define _LINUX_DEVICE_CLASS_H

#include <linux/kconfig.h>
#include <linux/kobject.h>

struct device;

struct class {
	const char *name;
	struct module *owner;
	const struct attribute_group **class_groups;
	const struct attribute_group **dev_groups;
	char *(*devnode)(const struct device *dev, umode_t *mode);
	void (*class_release)(const struct class *class);
	void (*dev_release)(struct device *dev);
	struct kobject *kapi_kobj;
	struct list_head kapi_devices;
};

extern struct class *kapi_class_create(const char *name);
/* The record changes: it has the class's folder and devices. */
extern int kapi_class_register(struct class *class);
extern void class_unregister(const struct class *class);
extern void class_destroy(const struct class *class);
#define class_register(cls) kapi_class_register((struct class *)(cls))
/* class_create(owner, name); without owner since 6.4. */
#define class_create(...) KAPI_BY_COUNT(__kapi_class_create_, __VA_ARGS__)
#define __kapi_class_create_1(name) kapi_class_create(name)
#define __kapi_class_create_2(owner, name) kapi_class_create(name)

#endif
