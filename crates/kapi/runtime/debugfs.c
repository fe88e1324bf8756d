// SPDX-License-Identifier: MIT OR Apache-2.0
// Files in debugfs: a tree below /sys/kernel/debug, apart from that of /proc; files that are a number each.
// Linux counterpart: fs/debugfs/inode.c, fs/debugfs/file.c, simple_attr_*() of fs/libfs.c @ 6.12.
#include "host.h"
#include <linux/debugfs.h>
#include <linux/kernel.h>
#include <linux/proc_fs.h>
#include <linux/uaccess.h>

/* A dentry is an entry of the tree. */
static struct proc_dir_entry *folder(struct dentry *parent)
{
	return (struct proc_dir_entry *)parent ?: kapi_debugfs_root();
}

static struct dentry *create(const char *name, umode_t mode, struct dentry *parent, void *data,
			     const struct file_operations *fops)
{
	struct proc_dir_entry *entry;

	if (IS_ERR(parent))
		return parent;
	if (kapi_proc_find(folder(parent), name, strlen(name))) {
		printk(KERN_ERR "debugfs: '%s' already exists in '%s'\n", name, folder(parent)->name);
		return ERR_PTR(-EEXIST);
	}
	entry = fops ? kapi_proc_fops(name, mode, folder(parent), fops, data) : proc_mkdir(name, folder(parent));
	return entry ? (struct dentry *)entry : ERR_PTR(-ENOMEM);
}

struct dentry *debugfs_create_dir(const char *name, struct dentry *parent)
{
	return create(name, 0, parent, NULL, NULL);
}

struct dentry *debugfs_create_file(const char *name, umode_t mode, struct dentry *parent,
				   void *data, const struct file_operations *fops)
{
	static const struct file_operations none;

	return create(name, mode, parent, data, fops ?: &none);
}

SAME_AS(debugfs_create_file_unsafe, debugfs_create_file);

struct dentry *debugfs_lookup(const char *name, struct dentry *parent)
{
	return IS_ERR(parent) ? NULL : (struct dentry *)kapi_proc_find(folder(parent), name, strlen(name));
}

void debugfs_remove(struct dentry *entry)
{
	if (!IS_ERR_OR_NULL(entry))
		proc_remove((struct proc_dir_entry *)entry);
}

SAME_AS(debugfs_remove_recursive, debugfs_remove);

void debugfs_lookup_and_remove(const char *name, struct dentry *parent)
{
	debugfs_remove(debugfs_lookup(name, parent));
}

/* A file that is a number: get and set give and take it, a format prints it. */
struct simple_attr {
	int (*get)(void *data, u64 *value);
	int (*set)(void *data, u64 value);
	void *data;
	const char *format;
};

int simple_attr_open(struct inode *inode, struct file *file, int (*get)(void *, u64 *),
		     int (*set)(void *, u64), const char *format)
{
	struct simple_attr *attr = kapi_alloc(sizeof(*attr));

	if (!attr)
		return -ENOMEM;
	*attr = (struct simple_attr){ get, set, inode->i_private, format };
	file->private_data = attr;
	return nonseekable_open(inode, file);
}

int simple_attr_release(struct inode *inode, struct file *file)
{
	kapi_free(file->private_data, sizeof(struct simple_attr));
	return 0;
}

ssize_t simple_attr_read(struct file *file, char __user *to, size_t count, loff_t *pos)
{
	struct simple_attr *attr = file->private_data;
	char text[32];
	u64 value;
	int error;

	if (!attr->get)
		return -EACCES;
	error = attr->get(attr->data, &value);
	if (error)
		return error;
	return simple_read_from_buffer(to, count, pos, text,
				       (size_t)scnprintf(text, sizeof(text), attr->format, (unsigned long long)value));
}

/* Copies what is written, and ends it. */
static int text_of(char *text, size_t size, const char __user *from, size_t count)
{
	count = min_t(size_t, count, size - 1);
	if (copy_from_user(text, from, count))
		return -EFAULT;
	text[count] = '\0';
	return 0;
}

ssize_t simple_attr_write(struct file *file, const char __user *from, size_t count, loff_t *pos)
{
	struct simple_attr *attr = file->private_data;
	unsigned long long value;
	long long negative;
	char text[32];
	int error;

	if (!attr->set)
		return -EACCES;
	error = text_of(text, sizeof(text), from, count);
	if (!error && *text == '-') {
		error = kstrtoll(text, 0, &negative);
		value = (unsigned long long)negative;
	} else if (!error) {
		error = kstrtoull(text, 0, &value);
	}
	error = error ?: attr->set(attr->data, value);
	return error ?: (ssize_t)count;
}

#define NUMBER(name, type, format) \
	static int name##_get(void *data, u64 *value) \
	{ \
		*value = (u64)READ_ONCE(*(type *)data); \
		return 0; \
	} \
	static int name##_set(void *data, u64 value) \
	{ \
		WRITE_ONCE(*(type *)data, (type)value); \
		return 0; \
	} \
	DEFINE_DEBUGFS_ATTRIBUTE(name##_fops, name##_get, name##_set, format); \
	struct dentry *debugfs_create_##name(const char *file, umode_t mode, struct dentry *parent, type *value) \
	{ \
		return debugfs_create_file(file, mode, parent, value, &name##_fops); \
	}

NUMBER(u8, u8, "%llu\n")
NUMBER(u16, u16, "%llu\n")
NUMBER(u32, u32, "%llu\n")
NUMBER(u64, u64, "%llu\n")
NUMBER(ulong, unsigned long, "%llu\n")
NUMBER(size_t, size_t, "%llu\n")
NUMBER(x8, u8, "0x%02llx\n")
NUMBER(x16, u16, "0x%04llx\n")
NUMBER(x32, u32, "0x%08llx\n")
NUMBER(x64, u64, "0x%016llx\n")

static int atomic_get(void *data, u64 *value)
{
	*value = (u64)atomic_read((atomic_t *)data);
	return 0;
}

static int atomic_set_to(void *data, u64 value)
{
	atomic_set((atomic_t *)data, (int)value);
	return 0;
}

DEFINE_DEBUGFS_ATTRIBUTE_SIGNED(atomic_fops, atomic_get, atomic_set_to, "%lld\n");

struct dentry *debugfs_create_atomic_t(const char *name, umode_t mode, struct dentry *parent, atomic_t *value)
{
	return debugfs_create_file(name, mode, parent, value, &atomic_fops);
}

static ssize_t bool_read(struct file *file, char __user *to, size_t count, loff_t *pos)
{
	return simple_read_from_buffer(to, count, pos, *(bool *)file->f_inode->i_private ? "Y\n" : "N\n", 2);
}

static ssize_t bool_write(struct file *file, const char __user *from, size_t count, loff_t *pos)
{
	char text[8];
	int error = text_of(text, sizeof(text), from, count);
	bool value;

	error = error ?: kstrtobool(text, &value);
	if (error)
		return error;
	*(bool *)file->f_inode->i_private = value;
	return (ssize_t)count;
}

static const struct file_operations bool_fops = { .read = bool_read, .write = bool_write };

struct dentry *debugfs_create_bool(const char *name, umode_t mode, struct dentry *parent, bool *value)
{
	return debugfs_create_file(name, mode, parent, value, &bool_fops);
}

static ssize_t str_read(struct file *file, char __user *to, size_t count, loff_t *pos)
{
	const char *text = *(char **)file->f_inode->i_private ?: "";
	size_t len = strlen(text);

	if ((size_t)*pos < len)
		return simple_read_from_buffer(to, count, pos, text, len);
	/* The newline is none of the string's. */
	*pos -= (loff_t)len;
	count = (size_t)simple_read_from_buffer(to, count, pos, "\n", 1);
	*pos += (loff_t)len;
	return (ssize_t)count;
}

static const struct file_operations str_fops = { .read = str_read };

struct dentry *debugfs_create_str(const char *name, umode_t mode, struct dentry *parent, char **value)
{
	return debugfs_create_file(name, mode, parent, value, &str_fops);
}

static ssize_t blob_read(struct file *file, char __user *to, size_t count, loff_t *pos)
{
	struct debugfs_blob_wrapper *blob = file->f_inode->i_private;

	return simple_read_from_buffer(to, count, pos, blob->data, blob->size);
}

static const struct file_operations blob_fops = { .read = blob_read };

struct dentry *debugfs_create_blob(const char *name, umode_t mode, struct dentry *parent,
				   struct debugfs_blob_wrapper *blob)
{
	return debugfs_create_file(name, mode, parent, blob, &blob_fops);
}
