// SPDX-License-Identifier: MIT OR Apache-2.0
// The tree of /proc, with the attributes of /sys and debugfs beside it.
#include "host.h"
#include <linux/kernel.h>
#include <linux/proc_fs.h>
#include <linux/seq_file.h>
#include <linux/slab.h>

struct proc_dir_entry proc_root = {
	.name = "", .mode = S_IFDIR | 0555,
	.kapi_children = { &kapi_proc_net.kapi_siblings, &kapi_proc_net.kapi_siblings },
	.kapi_siblings = LIST_HEAD_INIT(proc_root.kapi_siblings),
};

/* The folder of the network, which is there from the beginning. */
struct proc_dir_entry kapi_proc_net = {
	.name = "net", .namelen = 3, .mode = S_IFDIR | 0555, .parent = &proc_root,
	.kapi_children = LIST_HEAD_INIT(kapi_proc_net.kapi_children),
	.kapi_siblings = { &proc_root.kapi_children, &proc_root.kapi_children },
};

static struct proc_dir_entry *debugfs_root;

struct proc_dir_entry *kapi_proc_find(struct proc_dir_entry *parent, const char *name, size_t len)
{
	struct proc_dir_entry *entry;

	if (len == 2 && !strncmp(name, "..", 2))
		return parent->parent ?: parent;
	list_for_each_entry(entry, &parent->kapi_children, kapi_siblings)
		if (strlen(entry->name) == len && !strncmp(entry->name, name, len))
			return entry;
	return NULL;
}

/* Walks all but the last part of a path such as "dir/file". */
struct proc_dir_entry *kapi_proc_walk(struct proc_dir_entry *at, const char **path)
{
	const char *slash;

	at = at ?: &proc_root;
	while (at && (slash = strchr(*path, '/'))) {
		at = kapi_proc_find(at, *path, (size_t)(slash - *path));
		*path = slash + 1;
	}
	return at;
}

static const char *kind_of(const struct proc_dir_entry *entry, const struct proc_dir_entry *dir)
{
	if (dir == debugfs_root)
		return S_ISDIR(entry->mode) ? "the debugfs folder" : "the debugfs file";
	return S_ISDIR(entry->mode) ? "the folder of /proc" : "the file of /proc";
}

struct proc_dir_entry *kapi_proc_add(const char *name, umode_t mode, struct proc_dir_entry *parent, void *data)
{
	struct proc_dir_entry *dir = kapi_proc_walk(parent, &name), *entry;

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
	if (dir == &proc_root || dir == &kapi_proc_net || dir == debugfs_root)
		kapi_stands(entry, kind_of(entry, dir), name);
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

struct proc_dir_entry *proc_symlink(const char *name, struct proc_dir_entry *parent, const char *target)
{
	struct proc_dir_entry *entry = kapi_proc_add(name, S_IFLNK | 0777, parent, NULL);

	if (entry)
		strscpy(entry->kapi_target, target, sizeof(entry->kapi_target));
	return entry;
}

/* A folder, made if it is not there. */
struct proc_dir_entry *kapi_proc_folder(const char *name, struct proc_dir_entry *parent)
{
	struct proc_dir_entry *folder = kapi_proc_find(parent ?: &proc_root, name, strlen(name)) ?: proc_mkdir(name, parent);

	kapi_gone(folder);
	return folder;
}

/* debugfs is a part of the tree. */
struct proc_dir_entry *kapi_debugfs_root(void)
{
	if (!debugfs_root)
		debugfs_root = kapi_proc_folder("debug", kapi_proc_folder("kernel", kapi_proc_folder("sys", NULL)));
	return debugfs_root;
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
	kapi_gone(entry);
	kapi_free(entry, sizeof(*entry));
}

int remove_proc_subtree(const char *name, struct proc_dir_entry *parent)
{
	struct proc_dir_entry *dir = kapi_proc_walk(parent, &name);
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

/* What the kernel was started with. */
static noinline int cmdline_proc_show(struct seq_file *m, void *v)
{
	seq_puts(m, "slablab insmod\n");
	return 0;
}

void kapi_cmdline_start(void) { kapi_gone(proc_create_single("cmdline", 0, NULL, cmdline_proc_show)); }
