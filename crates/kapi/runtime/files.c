// SPDX-License-Identifier: MIT OR Apache-2.0
// Files of the module: /proc and character devices, and how the host reads and writes them.
#include "host.h"
#include <linux/cdev.h>
#include <linux/kernel.h>
#include <linux/miscdevice.h>
#include <linux/proc_fs.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#define DEVICES_MAX 64

struct proc_dir_entry proc_root = {
	.name = "", .mode = S_IFDIR | 0555,
	.kapi_children = LIST_HEAD_INIT(proc_root.kapi_children),
	.kapi_siblings = LIST_HEAD_INIT(proc_root.kapi_siblings),
};

struct proc_dir_entry *kapi_proc_find(struct proc_dir_entry *parent, const char *name, size_t len)
{
	struct proc_dir_entry *entry;

	list_for_each_entry(entry, &parent->kapi_children, kapi_siblings)
		if (strlen(entry->name) == len && !strncmp(entry->name, name, len))
			return entry;
	return NULL;
}

/* Walks all but the last part of a path such as "dir/file". */
static struct proc_dir_entry *walk(struct proc_dir_entry *at, const char **path)
{
	const char *slash;

	at = at ?: &proc_root;
	while (at && (slash = strchr(*path, '/'))) {
		at = kapi_proc_find(at, *path, (size_t)(slash - *path));
		*path = slash + 1;
	}
	return at;
}

struct proc_dir_entry *kapi_proc_add(const char *name, umode_t mode, struct proc_dir_entry *parent, void *data)
{
	struct proc_dir_entry *dir = walk(parent, &name), *entry;

	might_sleep();
	if (!dir || !*name)
		return NULL;
	WARN(kapi_proc_find(dir, name, strlen(name)) != NULL, "proc_dir_entry '%s' already registered\n", name);
	entry = kapi_alloc(sizeof(*entry));
	if (!entry)
		return NULL;
	strscpy(entry->kapi_name, name, sizeof(entry->kapi_name));
	entry->name = entry->kapi_name;
	entry->namelen = (unsigned short)strlen(entry->kapi_name);
	entry->mode = mode & S_IFMT ? mode : (umode_t)(mode | S_IFREG);
	entry->data = data;
	entry->parent = dir;
	INIT_LIST_HEAD(&entry->kapi_children);
	list_add_tail(&entry->kapi_siblings, &dir->kapi_children);
	return entry;
}

struct proc_dir_entry *kapi_proc_fops(const char *name, umode_t mode, struct proc_dir_entry *parent,
				      const struct file_operations *fops, void *data)
{
	struct proc_dir_entry *entry = kapi_proc_add(name, mode, parent, data);

	if (entry)
		entry->proc_fops = fops;
	return entry;
}

struct proc_dir_entry *kapi_proc_ops(const char *name, umode_t mode, struct proc_dir_entry *parent,
				     const struct proc_ops *ops, void *data)
{
	struct proc_dir_entry *entry = kapi_proc_add(name, mode, parent, data);

	if (!entry)
		return NULL;
	entry->kapi_fops = (struct file_operations){
		.open = ops->proc_open, .read = ops->proc_read, .write = ops->proc_write,
		.llseek = ops->proc_lseek, .release = ops->proc_release };
	entry->proc_fops = &entry->kapi_fops;
	return entry;
}

struct proc_dir_entry *proc_mkdir(const char *name, struct proc_dir_entry *parent)
{
	return kapi_proc_add(name, S_IFDIR | 0555, parent, NULL);
}

/* A folder, made if it is not there. */
struct proc_dir_entry *kapi_proc_folder(const char *name, struct proc_dir_entry *parent)
{
	return kapi_proc_find(parent ?: &proc_root, name, strlen(name)) ?: proc_mkdir(name, parent);
}

/* debugfs is a part of the tree. */
struct proc_dir_entry *kapi_debugfs_root(void)
{
	static struct proc_dir_entry *root;

	if (!root)
		root = kapi_proc_folder("debug", kapi_proc_folder("kernel", kapi_proc_folder("sys", NULL)));
	return root;
}

static int show_open(struct inode *inode, struct file *file)
{
	struct proc_dir_entry *entry = inode->i_private;

	return single_open(file, entry->kapi_show, entry->data);
}

struct proc_dir_entry *proc_create_single_data(const char *name, umode_t mode, struct proc_dir_entry *parent,
					       int (*show)(struct seq_file *, void *), void *data)
{
	static const struct file_operations fops = {
		.open = show_open, .read = seq_read, .release = single_release };
	struct proc_dir_entry *entry = kapi_proc_fops(name, mode, parent, &fops, data);

	if (entry)
		entry->kapi_show = show;
	return entry;
}

static int ops_open(struct inode *inode, struct file *file)
{
	struct proc_dir_entry *entry = inode->i_private;

	if (entry->kapi_state_bytes)
		return seq_open_private(file, entry->kapi_seq, (int)entry->kapi_state_bytes);
	return seq_open(file, entry->kapi_seq);
}

static int ops_release(struct inode *inode, struct file *file)
{
	struct proc_dir_entry *entry = inode->i_private;

	if (entry->kapi_state_bytes)
		return seq_release_private(inode, file);
	return seq_release(inode, file);
}

struct proc_dir_entry *proc_create_seq_private(const char *name, umode_t mode, struct proc_dir_entry *parent,
					       const struct seq_operations *ops, unsigned int state_bytes, void *data)
{
	static const struct file_operations fops = {
		.open = ops_open, .read = seq_read, .release = ops_release };
	struct proc_dir_entry *entry = kapi_proc_fops(name, mode, parent, &fops, data);

	if (entry) {
		entry->kapi_seq = ops;
		entry->kapi_state_bytes = state_bytes;
	}
	return entry;
}

void proc_remove(struct proc_dir_entry *entry)
{
	struct proc_dir_entry *child, *next;

	if (!entry || entry == &proc_root)
		return;
	list_for_each_entry_safe(child, next, &entry->kapi_children, kapi_siblings)
		proc_remove(child);
	list_del(&entry->kapi_siblings);
	kapi_free(entry, sizeof(*entry));
}

int remove_proc_subtree(const char *name, struct proc_dir_entry *parent)
{
	struct proc_dir_entry *dir = walk(parent, &name);
	struct proc_dir_entry *entry = dir ? kapi_proc_find(dir, name, strlen(name)) : NULL;

	if (!entry) {
		WARN(1, "name '%s' is not in /proc\n", name);
		return -ENOENT;
	}
	proc_remove(entry);
	return 0;
}

void remove_proc_entry(const char *name, struct proc_dir_entry *parent) { remove_proc_subtree(name, parent); }
void *pde_data(const struct inode *inode) { return inode->kapi_pde_data; }

/* Character devices: numbers with names, and operations for numbers. */
static struct device_region {
	dev_t first;
	unsigned int count;
	char name[32];
} regions[DEVICES_MAX];
static LIST_HEAD(cdevs);
static LIST_HEAD(miscs);

int register_chrdev_region(dev_t first, unsigned int count, const char *name)
{
	unsigned int i;

	for (i = 0; i < DEVICES_MAX; i++)
		if (regions[i].count && MAJOR(regions[i].first) == MAJOR(first))
			return -EBUSY;
	for (i = 0; i < DEVICES_MAX && regions[i].count; i++)
		;
	if (i == DEVICES_MAX)
		return -ENOMEM;
	regions[i].first = first;
	regions[i].count = count;
	strscpy(regions[i].name, name, sizeof(regions[i].name));
	return 0;
}

int alloc_chrdev_region(dev_t *dev, unsigned int first, unsigned int count, const char *name)
{
	static unsigned int major = 240;

	*dev = MKDEV(major, first);
	major++;
	return register_chrdev_region(*dev, count, name);
}

void unregister_chrdev_region(dev_t first, unsigned int count)
{
	unsigned int i;

	for (i = 0; i < DEVICES_MAX; i++)
		if (regions[i].count && regions[i].first == first)
			regions[i].count = 0;
}

struct cdev *cdev_alloc(void)
{
	struct cdev *cdev = kapi_alloc(sizeof(*cdev));

	if (cdev)
		cdev_init(cdev, NULL);
	return cdev;
}

void cdev_init(struct cdev *cdev, const struct file_operations *fops)
{
	memset(cdev, 0, sizeof(*cdev));
	INIT_LIST_HEAD(&cdev->list);
	cdev->ops = fops;
}

int cdev_add(struct cdev *cdev, dev_t dev, unsigned int count)
{
	cdev->dev = dev;
	cdev->count = count;
	list_add_tail(&cdev->list, &cdevs);
	return 0;
}

void cdev_del(struct cdev *cdev) { list_del_init(&cdev->list); }

int register_chrdev(unsigned int major, const char *name, const struct file_operations *fops)
{
	dev_t dev = MKDEV(major, 0);
	struct cdev *cdev = cdev_alloc();
	int error = major ? register_chrdev_region(dev, 256, name) :
			    alloc_chrdev_region(&dev, 0, 256, name);

	if (error || !cdev)
		return error ? error : -ENOMEM;
	cdev->ops = fops;
	cdev_add(cdev, dev, 256);
	return major ? 0 : (int)MAJOR(dev);
}

void unregister_chrdev(unsigned int major, const char *name)
{
	struct cdev *cdev, *next;

	list_for_each_entry_safe(cdev, next, &cdevs, list)
		if (MAJOR(cdev->dev) == major) {
			cdev_del(cdev);
			kapi_free(cdev, sizeof(*cdev));
		}
	unregister_chrdev_region(MKDEV(major, 0), 256);
}

void kapi_misc_add(struct miscdevice *misc) { list_add_tail(&misc->list, &miscs); }

/* The one of a number that a module chose. */
bool kapi_misc_has(int minor)
{
	struct miscdevice *misc;

	list_for_each_entry(misc, &miscs, list)
		if (misc->minor == minor && minor != MISC_DYNAMIC_MINOR)
			return true;
	return false;
}

loff_t no_llseek(struct file *file, loff_t offset, int whence) { return -ESPIPE; }
loff_t noop_llseek(struct file *file, loff_t offset, int whence) { return file->f_pos; }

loff_t default_llseek(struct file *file, loff_t offset, int whence)
{
	if (whence == SEEK_CUR)
		offset += file->f_pos;
	else if (whence == SEEK_END)
		offset += file->f_inode->i_size;
	if (offset < 0)
		return -EINVAL;
	return file->f_pos = offset;
}

int nonseekable_open(struct inode *inode, struct file *file) { return 0; }

int simple_open(struct inode *inode, struct file *file)
{
	file->private_data = inode->i_private;
	return 0;
}

/* Returns how many bytes from *pos on a file of @available bytes has for a caller that wants @count. */
static ssize_t bytes_at(loff_t pos, size_t count, size_t available)
{
	if (pos < 0)
		return -EINVAL;
	return (size_t)pos >= available ? 0 : (ssize_t)min(count, available - (size_t)pos);
}

ssize_t simple_read_from_buffer(void __user *to, size_t count, loff_t *pos, const void *from, size_t available)
{
	ssize_t n = bytes_at(*pos, count, available);

	if (n > 0 && copy_to_user(to, (const char *)from + *pos, (size_t)n))
		return -EFAULT;
	*pos += max(n, 0L);
	return n;
}

ssize_t simple_write_to_buffer(void *to, size_t available, loff_t *pos, const void __user *from, size_t count)
{
	ssize_t n = bytes_at(*pos, count, available);

	if (n > 0 && copy_from_user((char *)to + *pos, from, (size_t)n))
		return -EFAULT;
	*pos += max(n, 0L);
	return n;
}

/* A file that was found by its path, open. */
struct opened {
	struct proc_dir_entry *entry;
	struct inode inode;
	struct dentry dentry;
	struct file file;
};

static bool find_device(const char *name, struct opened *o)
{
	size_t len = strcspn(name, "0123456789");
	struct miscdevice *misc;
	struct cdev *cdev;
	unsigned int i;

	list_for_each_entry(misc, &miscs, list)
		if (!strcmp(misc->name, name)) {
			o->file.f_op = misc->fops;
			o->file.private_data = misc;
			return true;
		}
	for (i = 0; i < DEVICES_MAX; i++) {
		struct device_region *r = &regions[i];
		bool whole = r->count && !strcmp(r->name, name);

		if (!r->count || !(whole || (strlen(r->name) == len && !strncmp(r->name, name, len))))
			continue;
		o->inode.i_rdev = r->first +
			(whole ? 0 : (dev_t)simple_strtoul(name + len, NULL, 10));
		list_for_each_entry(cdev, &cdevs, list)
			if (o->inode.i_rdev - cdev->dev < cdev->count) {
				o->inode.i_cdev = cdev;
				o->file.f_op = cdev->ops;
				return true;
			}
	}
	return false;
}

static bool find_entry(struct proc_dir_entry *root, const char *path, struct opened *o)
{
	struct proc_dir_entry *dir = walk(root, &path);

	o->entry = dir ? kapi_proc_find(dir, path, strlen(path)) : NULL;
	if (!o->entry || S_ISDIR(o->entry->mode))
		return false;
	o->file.f_op = o->entry->proc_fops;
	/* DEFINE_SHOW_ATTRIBUTE reads its data here; our own open functions find their entry. */
	o->inode.i_private = o->entry->kapi_show || o->entry->kapi_seq ? (void *)o->entry :
									  o->entry->data;
	o->inode.kapi_pde_data = o->entry->data;
	o->inode.i_size = o->entry->size;
	return true;
}

static long open_path(const char *path, struct opened *o, fmode_t mode)
{
	memset(o, 0, sizeof(*o));
	o->file.f_inode = o->dentry.d_inode = &o->inode;
	o->file.f_path.dentry = &o->dentry;
	o->file.f_mode = mode;
	o->file.f_flags = mode & FMODE_WRITE ? O_WRONLY : O_RDONLY;
	/* Attributes are a tree beside that of /proc, and debugfs is a part of it. */
	if (!strncmp(path, "/sys/", 5))
		path++;
	if (!strncmp(path, "/dev/", 5) ? !find_device(path + 5, o) :
					 !find_entry(NULL, path, o) && !find_entry(kapi_debugfs_root(), path, o) &&
						 !find_device(path, o))
		return -ENOENT;
	o->inode.i_fop = o->file.f_op;
	if (o->file.f_op && o->file.f_op->open)
		return o->file.f_op->open(&o->inode, &o->file);
	return 0;
}

static void close(struct opened *o)
{
	if (o->file.f_op && o->file.f_op->release)
		o->file.f_op->release(&o->inode, &o->file);
}

/*
 * A read function of before 3.10: it writes into a page, and says by *start (NULL, a small number
 * of its own, or a place in the page) and *eof how it wants to be called on.
 */
static long read_old(struct proc_dir_entry *entry, char *page)
{
	off_t offset = 0;
	int eof = 0;
	int n;

	while (!eof) {
		char *start = NULL;

		n = entry->read_proc(page, &start, offset, PAGE_SIZE / 2, &eof, entry->data);
		if (n < 0)
			return n;
		if (!start) {
			if (n <= offset)
				break;
			kapi_output(page + offset, (size_t)(n - offset));
			break;
		}
		if (!n)
			break;
		if (start < page) {
			kapi_output(page, (size_t)n);
			offset += (off_t)(unsigned long)start;
		} else {
			kapi_output(start, (size_t)n);
			offset += n;
		}
	}
	return 0;
}

long kapi_read_file(const char *path)
{
	char *page = kapi_alloc(PAGE_SIZE);
	struct opened o;
	long n = open_path(path, &o, FMODE_READ);

	if (n)
		return n;
	if (o.entry && o.entry->read_proc) {
		n = read_old(o.entry, page);
	} else if (o.file.f_op && o.file.f_op->read) {
		while ((n = o.file.f_op->read(&o.file, page, PAGE_SIZE, &o.file.f_pos)) > 0)
			kapi_output(page, (size_t)n);
	} else {
		n = -EIO;
	}
	close(&o);
	kapi_free(page, PAGE_SIZE);
	return n;
}

long kapi_write_file(const char *path, const char *text, size_t len)
{
	struct opened o;
	long n = open_path(path, &o, FMODE_WRITE);

	if (n)
		return n;
	if (o.entry && o.entry->write_proc)
		n = o.entry->write_proc(&o.file, text, len, o.entry->data);
	else if (o.file.f_op && o.file.f_op->write)
		n = o.file.f_op->write(&o.file, text, len, &o.file.f_pos);
	else
		n = -EIO;
	close(&o);
	return n < 0 ? n : 0;
}

static void list_dir(struct proc_dir_entry *dir, const char *prefix)
{
	struct proc_dir_entry *entry;
	char path[128];

	list_for_each_entry(entry, &dir->kapi_children, kapi_siblings) {
		scnprintf(path, sizeof(path), "%s%s%s", prefix, entry->name, S_ISDIR(entry->mode) ? "/" : "\n");
		if (S_ISDIR(entry->mode))
			list_dir(entry, path);
		else
			kapi_output(path, strlen(path));
	}
}

/* What could be read: for the message about a file that is not there. */
void kapi_list_files(void)
{
	struct miscdevice *misc;
	char path[64];
	unsigned int i;

	list_dir(&proc_root, "");
	list_for_each_entry(misc, &miscs, list)
		kapi_output(path, (size_t)scnprintf(path, sizeof(path), "/dev/%s\n", misc->name));
	for (i = 0; i < DEVICES_MAX; i++)
		if (regions[i].count)
			kapi_output(path, (size_t)scnprintf(path, sizeof(path), "/dev/%s\n", regions[i].name));
}
