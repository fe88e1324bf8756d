/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Attributes: files under /sys that show and store a value; --cat and --write of `slablab insmod` reach
 * them there. */
#ifndef _LINUX_SYSFS_H
#define _LINUX_SYSFS_H

#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/list.h>
#include <linux/stat.h>
#include <linux/types.h>
#include <linux/version.h>

struct kobject;
struct module;

struct attribute {
	const char *name;
#if LINUX_VERSION_CODE < KERNEL_VERSION(2, 6, 36)
	struct module *owner;
#endif
	umode_t mode;
};

struct attribute_group {
	const char *name;
	/* The constant ones are of 7.3. */
	union {
		umode_t (*is_visible)(struct kobject *kobj, struct attribute *attr, int index);
		umode_t (*is_visible_const)(struct kobject *kobj, const struct attribute *attr, int index);
	};
	union {
		struct attribute **attrs;
		const struct attribute *const *attrs_const;
	};
};

struct sysfs_ops {
	ssize_t (*show)(struct kobject *kobj, struct attribute *attr, char *buf);
	ssize_t (*store)(struct kobject *kobj, struct attribute *attr, const char *buf, size_t len);
};

#define VERIFY_OCTAL_PERMISSIONS(mode) (mode)
#define __ATTR(_name, _mode, _show, _store) \
	{ .attr = { .name = __stringify(_name), .mode = (_mode) }, .show = (_show), .store = (_store) }
#define __ATTR_RO(_name) __ATTR(_name, 0444, _name##_show, NULL)
#define __ATTR_RO_MODE(_name, _mode) __ATTR(_name, _mode, _name##_show, NULL)
#define __ATTR_WO(_name) __ATTR(_name, 0200, NULL, _name##_store)
#define __ATTR_RW(_name) __ATTR(_name, 0644, _name##_show, _name##_store)
#define __ATTR_RW_MODE(_name, _mode) __ATTR(_name, _mode, _name##_show, _name##_store)
#define __ATTR_NULL { .attr = { .name = NULL } }
#define __ATTRIBUTE_GROUPS(_name) static const struct attribute_group *_name##_groups[] = { &_name##_group, NULL }
#define ATTRIBUTE_GROUPS(_name) \
	static const struct attribute_group _name##_group = { .attrs = _name##_attrs }; \
	__ATTRIBUTE_GROUPS(_name)
#define sysfs_attr_init(attr) ((void)(attr))

extern int sysfs_create_file(struct kobject *kobj, const struct attribute *attr);
extern void sysfs_remove_file(struct kobject *kobj, const struct attribute *attr);
extern int sysfs_create_files(struct kobject *kobj, const struct attribute *const *attrs);
extern void sysfs_remove_files(struct kobject *kobj, const struct attribute *const *attrs);
extern int sysfs_create_group(struct kobject *kobj, const struct attribute_group *group);
extern void sysfs_remove_group(struct kobject *kobj, const struct attribute_group *group);
extern int sysfs_create_groups(struct kobject *kobj, const struct attribute_group **groups);
extern void sysfs_remove_groups(struct kobject *kobj, const struct attribute_group **groups);
extern int sysfs_emit(char *buf, const char *fmt, ...) __printf(2, 3);
extern int sysfs_emit_at(char *buf, int at, const char *fmt, ...) __printf(3, 4);
#define sysfs_notify(kobj, dir, attr) ((void)(kobj))

#endif
