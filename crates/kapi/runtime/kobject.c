// SPDX-License-Identifier: MIT OR Apache-2.0
// Kernel objects and their attributes: folders and files of a tree "sys" beside those of /proc.
#include "host.h"
#include <linux/err.h>
#include <linux/kobject.h>
#include <linux/mm.h>
#include <linux/proc_fs.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

static ssize_t attr_show(struct kobject *kobj, struct attribute *attr, char *buf);
static ssize_t attr_store(struct kobject *kobj, struct attribute *attr, const char *buf, size_t len);
const struct sysfs_ops kobj_sysfs_ops = { .show = attr_show, .store = attr_store };
/* Of the fixed folders, in which modules make files. */
static const struct kobj_type fixed_type = { .sysfs_ops = &kobj_sysfs_ops };

static struct kobject kernel_object = { .ktype = &fixed_type }, mm_object = { .ktype = &fixed_type };
static struct kobject fs_object = { .ktype = &fixed_type }, devices_object, class_object, bus_object;
struct kobject *kernel_kobj = &kernel_object;
struct kobject *mm_kobj = &mm_object;
struct kobject *fs_kobj = &fs_object;

/* What an attribute's file has as its data. */
struct node {
	struct kobject *kobj;
	struct attribute *attr;
};

/* Returns the folder of @parent, making the fixed ones when they are first asked for. */
static struct proc_dir_entry *folder(struct kobject *parent)
{
	static struct proc_dir_entry *root;

	if (!root) {
		root = kapi_proc_folder("sys", NULL);
		fs_object.sd = kapi_proc_folder("fs", root);
		kernel_object.sd = kapi_proc_folder("kernel", root);
		mm_object.sd = proc_mkdir("mm", kernel_object.sd);
	}
	return parent ? parent->sd : root;
}

static struct kobject *fixed(struct kobject *kobj, const char *name)
{
	if (!kobj->sd)
		kobj->sd = kapi_proc_folder(name, folder(NULL));
	return kobj;
}

/* /sys/devices, /sys/class and /sys/bus. */
struct kobject *kapi_devices_kobj(void) { return fixed(&devices_object, "devices"); }
struct kobject *kapi_class_kobj(void) { return fixed(&class_object, "class"); }
struct kobject *kapi_bus_kobj(void) { return fixed(&bus_object, "bus"); }

/* A folder that is the runtime's: no check counts it. Files in it may be of an owner's. */
struct owned {
	struct kobject kobj;
	void *owner;
};

struct kobject *kapi_folder_kobj(struct kobject *parent, const char *name)
{
	struct owned *owned = kapi_alloc(sizeof(*owned));

	if (!owned)
		return NULL;
	owned->kobj.sd = kapi_proc_folder(name, folder(parent));
	return &owned->kobj;
}

void kapi_folder_own(struct kobject *kobj, const struct kobj_type *type, void *owner)
{
	kobj->ktype = type;
	container_of(kobj, struct owned, kobj)->owner = owner;
}

void *kapi_folder_owner(struct kobject *kobj) { return container_of(kobj, struct owned, kobj)->owner; }

void kapi_folder_remove(struct kobject *kobj)
{
	proc_remove(kobj->sd);
	kapi_free(container_of(kobj, struct owned, kobj), sizeof(struct owned));
}

static ssize_t attr_show(struct kobject *kobj, struct attribute *attr, char *buf)
{
	struct kobj_attribute *kattr = container_of(attr, struct kobj_attribute, attr);

	return kattr->show ? kattr->show(kobj, kattr, buf) : -EIO;
}

static ssize_t attr_store(struct kobject *kobj, struct attribute *attr, const char *buf, size_t len)
{
	struct kobj_attribute *kattr = container_of(attr, struct kobj_attribute, attr);

	return kattr->store ? kattr->store(kobj, kattr, buf, len) : -EIO;
}

static const struct sysfs_ops *ops_of(struct node *node)
{
	return node->kobj->ktype ? node->kobj->ktype->sysfs_ops : NULL;
}

static ssize_t node_read(struct file *file, char __user *to, size_t count, loff_t *pos)
{
	struct node *node = pde_data(file->f_inode);
	const struct sysfs_ops *ops = ops_of(node);
	char *page;
	ssize_t n;

	if (!ops || !ops->show)
		return -EIO;
	page = kapi_alloc(PAGE_SIZE);
	if (!page)
		return -ENOMEM;
	n = ops->show(node->kobj, node->attr, page);
	if (n >= 0)
		n = simple_read_from_buffer(to, count, pos, page, min_t(size_t, (size_t)n, PAGE_SIZE));
	kapi_free(page, PAGE_SIZE);
	return n;
}

static ssize_t node_write(struct file *file, const char __user *from, size_t count, loff_t *pos)
{
	struct node *node = pde_data(file->f_inode);
	const struct sysfs_ops *ops = ops_of(node);
	char *page;
	ssize_t n;

	if (!ops || !ops->store)
		return -EIO;
	page = kapi_alloc(PAGE_SIZE);
	if (!page)
		return -ENOMEM;
	count = min_t(size_t, count, PAGE_SIZE - 1);
	n = copy_from_user(page, from, count) ? -EFAULT :
						  ops->store(node->kobj, node->attr, page, count);
	kapi_free(page, PAGE_SIZE);
	return n;
}

static const struct file_operations node_fops = { .read = node_read, .write = node_write };

/* Folders that outlive the module. */
static bool is_fixed(const struct kobject *kobj)
{
	return kobj == &kernel_object || kobj == &mm_object || kobj == &fs_object;
}

static int create_in(struct proc_dir_entry *dir, struct kobject *kobj, const struct attribute *attr)
{
	struct proc_dir_entry *entry;
	struct node *node;

	if (!dir)
		return -ENOENT;
	node = kapi_alloc(sizeof(*node));
	if (!node)
		return -ENOMEM;
	*node = (struct node){ kobj, (struct attribute *)attr };
	entry = kapi_proc_fops(attr->name, attr->mode, dir, &node_fops, node);
	if (!entry) {
		kapi_free(node, sizeof(*node));
		return -ENOMEM;
	}
	if (is_fixed(kobj))
		kapi_stands(entry, "the file of /sys", attr->name);
	return 0;
}

static struct proc_dir_entry *child_of(struct proc_dir_entry *dir, const char *name)
{
	return dir ? kapi_proc_find(dir, name, strlen(name)) : NULL;
}

static void remove_in(struct proc_dir_entry *dir, const struct attribute *attr)
{
	struct proc_dir_entry *entry = child_of(dir, attr->name);

	if (entry) {
		kapi_free(entry->data, sizeof(struct node));
		proc_remove(entry);
	}
}

/* Its folder; the fixed ones are made when they are first asked for. */
static struct proc_dir_entry *folder_of(struct kobject *kobj)
{
	if (is_fixed(kobj))
		folder(NULL);
	return kobj->sd;
}

int sysfs_create_file(struct kobject *kobj, const struct attribute *attr)
{
	return create_in(folder_of(kobj), kobj, attr);
}

void sysfs_remove_file(struct kobject *kobj, const struct attribute *attr) { remove_in(kobj->sd, attr); }

int sysfs_create_files(struct kobject *kobj, const struct attribute *const *attrs)
{
	int error = 0;

	for (; *attrs && !error; attrs++)
		error = sysfs_create_file(kobj, *attrs);
	return error;
}

void sysfs_remove_files(struct kobject *kobj, const struct attribute *const *attrs)
{
	for (; *attrs; attrs++)
		sysfs_remove_file(kobj, *attrs);
}

int sysfs_create_group(struct kobject *kobj, const struct attribute_group *group)
{
	struct proc_dir_entry *own = folder_of(kobj), *dir = group->name ? proc_mkdir(group->name, own) : own;
	int i, error = 0;

	for (i = 0; group->attrs && group->attrs[i] && !error; i++)
		if (!group->is_visible || group->is_visible(kobj, group->attrs[i], i))
			error = create_in(dir, kobj, group->attrs[i]);
	return error;
}

void sysfs_remove_group(struct kobject *kobj, const struct attribute_group *group)
{
	struct proc_dir_entry *dir = group->name ? child_of(kobj->sd, group->name) : kobj->sd;
	int i;

	for (i = 0; group->attrs && group->attrs[i]; i++)
		remove_in(dir, group->attrs[i]);
	if (group->name)
		proc_remove(dir);
}

int sysfs_create_groups(struct kobject *kobj, const struct attribute_group **groups)
{
	int error = 0;

	for (; groups && *groups && !error; groups++)
		error = sysfs_create_group(kobj, *groups);
	return error;
}

void sysfs_remove_groups(struct kobject *kobj, const struct attribute_group **groups)
{
	for (; groups && *groups; groups++)
		sysfs_remove_group(kobj, *groups);
}

int sysfs_emit_at(char *buf, int at, const char *fmt, ...)
{
	if (WARN(at < 0 || at >= (int)PAGE_SIZE, "sysfs_emit_at: at %d\n", at))
		return 0;
	return WITH_ARGS(fmt, vscnprintf(buf + at, PAGE_SIZE - (size_t)at, fmt, args));
}

int sysfs_emit(char *buf, const char *fmt, ...) { return WITH_ARGS(fmt, vscnprintf(buf, PAGE_SIZE, fmt, args)); }

static int set_name(struct kobject *kobj, const char *fmt, va_list args)
{
	char name[64];
	char *copy;
	int len = vscnprintf(name, sizeof(name), fmt, args);

	copy = kapi_alloc((size_t)len + 1);
	if (!copy)
		return -ENOMEM;
	strscpy(copy, name, (size_t)len + 1);
	if (kobj->name)
		kapi_free((void *)kobj->name, strlen(kobj->name) + 1);
	kobj->name = copy;
	return 0;
}

int kobject_set_name(struct kobject *kobj, const char *fmt, ...) { return WITH_ARGS(fmt, set_name(kobj, fmt, args)); }

void kobject_init(struct kobject *kobj, const struct kobj_type *ktype)
{
	WARN(kobj->state_initialized, "kobject: tried to init an initialized object\n");
	kref_init(&kobj->kref);
	INIT_LIST_HEAD(&kobj->entry);
	kobj->state_initialized = 1;
	kobj->ktype = ktype;
}

static int add(struct kobject *kobj, struct kobject *parent)
{
	struct attribute **attr;
	int error = 0;

	if (!kobj->name || !*kobj->name)
		return -EINVAL;
	if (kobj->kset && !parent)
		parent = &kobj->kset->kobj;
	if (child_of(folder(parent), kobj->name))
		return -EEXIST;
	kobj->parent = kobject_get(parent);
	kobj->sd = proc_mkdir(kobj->name, folder(parent));
	if (!kobj->sd)
		return -ENOMEM;
	kobj->state_in_sysfs = 1;
	kapi_stands(kobj, "the folder of /sys", kobj->name);
	if (kobj->kset)
		list_add_tail(&kobj->entry, &kset_get(kobj->kset)->list);
	for (attr = kobj->ktype->default_attrs; attr && *attr && !error; attr++)
		error = sysfs_create_file(kobj, *attr);
	return error ? error : sysfs_create_groups(kobj, kobj->ktype->default_groups);
}

int kobject_add(struct kobject *kobj, struct kobject *parent, const char *fmt, ...)
{
	return WITH_ARGS(fmt, set_name(kobj, fmt, args)) ?: add(kobj, parent);
}

int kobject_init_and_add(struct kobject *kobj, const struct kobj_type *ktype,
			 struct kobject *parent, const char *fmt, ...)
{
	kobject_init(kobj, ktype);
	return WITH_ARGS(fmt, set_name(kobj, fmt, args)) ?: add(kobj, parent);
}

static void free_files(struct proc_dir_entry *dir)
{
	struct proc_dir_entry *entry, *next;

	list_for_each_entry_safe(entry, next, &dir->kapi_children, kapi_siblings) {
		if (S_ISDIR(entry->mode)) {
			free_files(entry);
		} else {
			kapi_free(entry->data, sizeof(struct node));
			proc_remove(entry);
		}
	}
}

void kobject_del(struct kobject *kobj)
{
	if (!kobj || !kobj->state_in_sysfs)
		return;
	free_files(kobj->sd);
	proc_remove(kobj->sd);
	kobj->sd = NULL;
	kobj->state_in_sysfs = 0;
	kapi_gone(kobj);
	if (kobj->kset) {
		list_del_init(&kobj->entry);
		kset_put(kobj->kset);
	}
	kobject_put(kobj->parent);
	kobj->parent = NULL;
}

static void release(struct kref *kref)
{
	struct kobject *kobj = container_of(kref, struct kobject, kref);
	const char *name = kobj->name;

	kobject_del(kobj);
	if (kobj->ktype && kobj->ktype->release)
		kobj->ktype->release(kobj);
	else
		pr_err("kobject: '%s': does not have a release() function, it is broken\n", name);
	if (name)
		kapi_free((void *)name, strlen(name) + 1);
}

struct kobject *kobject_get(struct kobject *kobj)
{
	if (kobj && kobj->state_initialized)
		kref_get(&kobj->kref);
	return kobj;
}

void kobject_put(struct kobject *kobj)
{
	/* The fixed folders are nobody's to free. */
	if (kobj && kobj->state_initialized)
		kref_put(&kobj->kref, release);
}

static void dynamic_release(struct kobject *kobj) { kfree(kobj); }

static const struct kobj_type dynamic_type = { .release = dynamic_release,
					       .sysfs_ops = &kobj_sysfs_ops };

struct kobject *kobject_create_and_add(const char *name, struct kobject *parent)
{
	struct kobject *kobj = kzalloc(sizeof(*kobj), GFP_KERNEL);

	if (!kobj)
		return NULL;
	if (!kobject_init_and_add(kobj, &dynamic_type, parent, "%s", name))
		return kobj;
	kobject_put(kobj);
	return NULL;
}

void kset_init(struct kset *kset)
{
	kobject_init(&kset->kobj, kset->kobj.ktype);
	INIT_LIST_HEAD(&kset->list);
	spin_lock_init(&kset->list_lock);
}

int kset_register(struct kset *kset)
{
	kset_init(kset);
	return add(&kset->kobj, kset->kobj.parent);
}

void kset_unregister(struct kset *kset)
{
	kobject_del(&kset->kobj);
	kobject_put(&kset->kobj);
}

static void kset_release(struct kobject *kobj) { kfree(container_of(kobj, struct kset, kobj)); }

static const struct kobj_type kset_type = { .release = kset_release, .sysfs_ops = &kobj_sysfs_ops };

struct kset *kset_create_and_add(const char *name, const struct kset_uevent_ops *ops, struct kobject *parent)
{
	struct kset *kset = kzalloc(sizeof(*kset), GFP_KERNEL);

	if (!kset)
		return NULL;
	kset->uevent_ops = ops;
	kset->kobj.ktype = &kset_type;
	kset->kobj.parent = parent;
	if (!kobject_set_name(&kset->kobj, "%s", name) && !kset_register(kset))
		return kset;
	kfree(kset);
	return NULL;
}
