/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Files under /proc; the host reads them with --cat NAME.
 *
 * proc_create() takes struct proc_ops (since 5.6) or struct file_operations (before). */
#ifndef _LINUX_PROC_FS_H
#define _LINUX_PROC_FS_H

#include <linux/err.h>
#include <linux/fs.h>
#include <linux/list.h>
#include <linux/module.h>

struct seq_file;
struct seq_operations;
struct proc_dir_entry;

typedef int(read_proc_t)(char *page, char **start, off_t off, int count, int *eof, void *data);
typedef int(write_proc_t)(struct file *file, const char __user *buffer, unsigned long count, void *data);

struct proc_ops {
	unsigned int proc_flags;
	int (*proc_open)(struct inode *, struct file *);
	ssize_t (*proc_read)(struct file *, char __user *, size_t, loff_t *);
	ssize_t (*proc_write)(struct file *, const char __user *, size_t, loff_t *);
	loff_t (*proc_lseek)(struct file *, loff_t, int);
	int (*proc_release)(struct inode *, struct file *);
	__poll_t (*proc_poll)(struct file *, struct poll_table_struct *);
	long (*proc_ioctl)(struct file *, unsigned int, unsigned long);
	long (*proc_compat_ioctl)(struct file *, unsigned int, unsigned long);
	int (*proc_mmap)(struct file *, struct vm_area_struct *);
	/* Without memory protection of its own a process asks for a place here; this one never does. */
	unsigned long (*proc_get_unmapped_area)(struct file *, unsigned long, unsigned long, unsigned long, unsigned long);
};

/* Its fields are public only up to 3.9. */
struct proc_dir_entry {
	const char *name;
	unsigned short namelen;
	umode_t mode;
	uid_t uid;
	gid_t gid;
	loff_t size;
	struct module *owner;
	void *data;
	const struct file_operations *proc_fops;
	read_proc_t *read_proc;
	write_proc_t *write_proc;
	struct proc_dir_entry *parent;
	struct list_head kapi_siblings;
	struct list_head kapi_children;
	struct file_operations kapi_fops;
	const struct seq_operations *kapi_seq;
	unsigned int kapi_state_bytes;
	int (*kapi_show)(struct seq_file *m, void *v);
	char kapi_name[64];
	char kapi_target[64]; /* of a symbolic link */
};

extern struct proc_dir_entry proc_root;
/* Runtime: /proc/net. */
extern struct proc_dir_entry kapi_proc_net;
extern struct proc_dir_entry *proc_symlink(const char *name, struct proc_dir_entry *parent, const char *target);
extern struct proc_dir_entry *kapi_proc_find(struct proc_dir_entry *parent, const char *name, size_t len);
extern struct proc_dir_entry *kapi_proc_folder(const char *name, struct proc_dir_entry *parent);
extern struct proc_dir_entry *kapi_debugfs_root(void);
extern struct proc_dir_entry *kapi_proc_add(const char *name, umode_t mode, struct proc_dir_entry *parent, void *data);
extern struct proc_dir_entry *kapi_proc_fops(const char *name, umode_t mode, struct proc_dir_entry *parent,
					     const struct file_operations *fops, void *data);
extern struct proc_dir_entry *kapi_proc_ops(const char *name, umode_t mode, struct proc_dir_entry *parent,
					    const struct proc_ops *ops, void *data);
extern struct proc_dir_entry *proc_mkdir(const char *name, struct proc_dir_entry *parent);
extern struct proc_dir_entry *proc_create_single_data(const char *name, umode_t mode, struct proc_dir_entry *parent,
						      int (*show)(struct seq_file *, void *), void *data);
extern struct proc_dir_entry *proc_create_seq_private(const char *name, umode_t mode, struct proc_dir_entry *parent,
						      const struct seq_operations *ops, unsigned int state_bytes,
						      void *data);
extern void remove_proc_entry(const char *name, struct proc_dir_entry *parent);
extern int remove_proc_subtree(const char *name, struct proc_dir_entry *parent);
extern void proc_remove(struct proc_dir_entry *entry);
extern void *pde_data(const struct inode *inode);
#define PDE_DATA(inode) pde_data(inode)

#define proc_create_data(name, mode, parent, ops, data) \
	_Generic((ops), \
		 struct proc_ops *: kapi_proc_ops, \
		 const struct proc_ops *: kapi_proc_ops, \
		 default: kapi_proc_fops)(name, mode, parent, (const void *)(ops), data)
#define proc_create(name, mode, parent, ops) proc_create_data(name, mode, parent, ops, NULL)
#define proc_create_single(name, mode, parent, show) proc_create_single_data(name, mode, parent, show, NULL)
/* In a folder of a network: there is one network. */
static inline struct proc_dir_entry *proc_create_net_single(const char *name, umode_t mode, struct proc_dir_entry *parent,
							    int (*show)(struct seq_file *, void *), void *data)
{
	return proc_create_single_data(name, mode, parent, show, data);
}
#define proc_create_seq_data(name, mode, parent, ops, data) proc_create_seq_private(name, mode, parent, ops, 0, data)
#define proc_create_seq(name, mode, parent, ops) proc_create_seq_private(name, mode, parent, ops, 0, NULL)
#define proc_mkdir_mode(name, mode, parent) proc_mkdir(name, parent)
#define proc_set_size(entry, bytes) ((entry)->size = (bytes))
#define proc_set_user(entry, u, g) ((void)(entry))
/* Gone since 3.10. */
#define create_proc_entry(name, mode, parent) kapi_proc_add(name, mode, parent, NULL)

static inline struct proc_dir_entry *create_proc_read_entry(const char *name, mode_t mode,
							    struct proc_dir_entry *parent,
							    read_proc_t *read_proc, void *data)
{
	struct proc_dir_entry *entry = kapi_proc_add(name, (umode_t)mode, parent, data);

	if (entry)
		entry->read_proc = read_proc;
	return entry;
}

#endif
