/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Objects with a name, a reference count and a folder under /sys. No events are sent. */
#ifndef _LINUX_KOBJECT_H
#define _LINUX_KOBJECT_H

#include <linux/kref.h>
#include <linux/list.h>
#include <linux/spinlock.h>
#include <linux/sysfs.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

struct kset;
struct kobj_type;
struct proc_dir_entry;

struct kobject {
	const char *name;
	struct list_head entry;
	struct kobject *parent;
	struct kset *kset;
	const struct kobj_type *ktype;
	struct proc_dir_entry *sd;
	struct kref kref;
	unsigned int state_initialized : 1;
	unsigned int state_in_sysfs : 1;
};

struct kobj_type {
	void (*release)(struct kobject *kobj);
	const struct sysfs_ops *sysfs_ops;
	struct attribute **default_attrs;
	const struct attribute_group **default_groups;
};

struct kset_uevent_ops {
	int (*filter)(struct kobject *kobj);
	const char *(*name)(struct kobject *kobj);
};

struct kset {
	struct list_head list;
	spinlock_t list_lock;
	struct kobject kobj;
	const struct kset_uevent_ops *uevent_ops;
};

struct kobj_attribute {
	struct attribute attr;
	/* The constant ones are of 7.3; __KOBJ_ATTR() takes either. */
	union {
		ssize_t (*show)(struct kobject *kobj, struct kobj_attribute *attr, char *buf);
		ssize_t (*show_const)(struct kobject *kobj, const struct kobj_attribute *attr, char *buf);
	};
	union {
		ssize_t (*store)(struct kobject *kobj, struct kobj_attribute *attr, const char *buf, size_t len);
		ssize_t (*store_const)(struct kobject *kobj, const struct kobj_attribute *attr, const char *buf,
				       size_t len);
	};
};
#define __KOBJ_ATTR(_name, _mode, _show, _store) \
	{ .attr = { .name = __stringify(_name), .mode = (_mode) }, \
	  .show = (typeof(((struct kobj_attribute *)0)->show))(_show), \
	  .store = (typeof(((struct kobj_attribute *)0)->store))(_store) }

enum kobject_action {
	KOBJ_ADD,
	KOBJ_REMOVE,
	KOBJ_CHANGE,
	KOBJ_MOVE,
	KOBJ_ONLINE,
	KOBJ_OFFLINE
};

/* /sys/kernel, /sys/kernel/mm, /sys/fs. */
extern struct kobject *kernel_kobj;
extern struct kobject *mm_kobj;
extern struct kobject *fs_kobj;
extern const struct sysfs_ops kobj_sysfs_ops;

extern int kobject_set_name(struct kobject *kobj, const char *fmt, ...) __printf(2, 3);
extern void kobject_init(struct kobject *kobj, const struct kobj_type *ktype);
extern int kobject_add(struct kobject *kobj, struct kobject *parent, const char *fmt, ...)
	__printf(3, 4);
extern int kobject_init_and_add(struct kobject *kobj, const struct kobj_type *ktype,
				struct kobject *parent, const char *fmt, ...) __printf(4, 5);
extern struct kobject *kobject_create_and_add(const char *name, struct kobject *parent);
extern struct kobject *kobject_get(struct kobject *kobj);
extern void kobject_put(struct kobject *kobj);
extern void kobject_del(struct kobject *kobj);
extern void kset_init(struct kset *kset);
extern int kset_register(struct kset *kset);
extern void kset_unregister(struct kset *kset);
extern struct kset *kset_create_and_add(const char *name, const struct kset_uevent_ops *ops, struct kobject *parent);

static inline const char *kobject_name(const struct kobject *kobj) { return kobj->name; }
static inline const struct kobj_type *get_ktype(const struct kobject *kobj) { return kobj->ktype; }

static inline struct kset *kset_get(struct kset *kset)
{
	if (kset)
		kobject_get(&kset->kobj);
	return kset;
}

static inline void kset_put(struct kset *kset) { kobject_put(&kset->kobj); }

/* The variables of an event, which nobody sends. */
struct kobj_uevent_env {
	char *argv[3];
	char *envp[64];
	int envp_idx;
	char buf[2048];
	int buflen;
};
extern int add_uevent_var(struct kobj_uevent_env *env, const char *fmt, ...) __printf(2, 3);

static inline int kobject_uevent(struct kobject *kobj, enum kobject_action action)
{
	return kobj->state_in_sysfs ? 0 : -EINVAL;
}

#endif
