/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Classes of devices: folders under /sys/class. */
#ifndef _LINUX_DEVICE_CLASS_H
#define _LINUX_DEVICE_CLASS_H

#include <linux/kconfig.h>
#include <linux/kobject.h>
#include <linux/sysfs.h>
#include <linux/version.h>

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

/* A file in the folder of a class. */
struct class_attribute {
	struct attribute attr;
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 4, 0)
	ssize_t (*show)(const struct class *class, const struct class_attribute *attr, char *buf);
	ssize_t (*store)(const struct class *class, const struct class_attribute *attr, const char *buf, size_t count);
#elif LINUX_VERSION_CODE >= KERNEL_VERSION(2, 6, 34)
	ssize_t (*show)(struct class *class, struct class_attribute *attr, char *buf);
	ssize_t (*store)(struct class *class, struct class_attribute *attr, const char *buf, size_t count);
#else
	ssize_t (*show)(struct class *class, char *buf);
	ssize_t (*store)(struct class *class, const char *buf, size_t count);
#endif
};
#define CLASS_ATTR_RW(_name) struct class_attribute class_attr_##_name = __ATTR_RW(_name)
#define CLASS_ATTR_RO(_name) struct class_attribute class_attr_##_name = __ATTR_RO(_name)
#define CLASS_ATTR_WO(_name) struct class_attribute class_attr_##_name = __ATTR_WO(_name)
extern int class_create_file(const struct class *class, const struct class_attribute *attr);
extern void class_remove_file(const struct class *class, const struct class_attribute *attr);

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
