/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Files and devices: what a module's own /proc file or character device needs. */
#ifndef _LINUX_FS_H
#define _LINUX_FS_H

#include <linux/cred.h>
#include <linux/err.h>
#include <linux/export.h>
#include <linux/ioctl.h>
#include <linux/kdev_t.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/stat.h>
#include <linux/types.h>
#include <linux/fcntl.h>

struct file;
struct inode;
struct dentry;
struct cdev;
struct module;
struct vm_area_struct;
struct poll_table_struct;
typedef int (*filldir_t)(void *, const char *, int, loff_t, u64, unsigned);

struct qstr {
	const unsigned char *name;
	u32 len;
};

struct dentry {
	struct dentry *d_parent;
	struct qstr d_name;
	struct inode *d_inode;
	unsigned char d_iname[40];
};

struct path {
	struct dentry *dentry;
};

struct inode {
	umode_t i_mode;
	uid_t i_uid;
	gid_t i_gid;
	dev_t i_rdev;
	loff_t i_size;
	unsigned long i_ino;
	const struct file_operations *i_fop;
	union {
		struct cdev *i_cdev;
	};
	void *i_private;
	void *kapi_pde_data;
};

struct file {
	struct path f_path;
	struct inode *f_inode;
	const struct file_operations *f_op;
	unsigned int f_flags;
	fmode_t f_mode;
	loff_t f_pos;
	void *private_data;
};
#define f_dentry f_path.dentry

#define FMODE_READ ((fmode_t)0x1)
#define FMODE_WRITE ((fmode_t)0x2)
#define SEEK_SET 0
#define SEEK_CUR 1
#define SEEK_END 2

struct file_operations {
	struct module *owner;
	loff_t (*llseek)(struct file *, loff_t, int);
	ssize_t (*read)(struct file *, char __user *, size_t, loff_t *);
	ssize_t (*write)(struct file *, const char __user *, size_t, loff_t *);
	__poll_t (*poll)(struct file *, struct poll_table_struct *);
	int (*ioctl)(struct inode *, struct file *, unsigned int, unsigned long);
	long (*unlocked_ioctl)(struct file *, unsigned int, unsigned long);
	long (*compat_ioctl)(struct file *, unsigned int, unsigned long);
	int (*mmap)(struct file *, struct vm_area_struct *);
	int (*open)(struct inode *, struct file *);
	int (*flush)(struct file *, void *id);
	int (*release)(struct inode *, struct file *);
	int (*fsync)(struct file *, loff_t, loff_t, int datasync);
	int (*readdir)(struct file *, void *, filldir_t);
};

static inline struct inode *file_inode(const struct file *file) { return file->f_inode; }
#define iminor(inode) MINOR((inode)->i_rdev)
#define imajor(inode) MAJOR((inode)->i_rdev)

extern int register_chrdev(unsigned int major, const char *name, const struct file_operations *fops);
extern void unregister_chrdev(unsigned int major, const char *name);
extern int alloc_chrdev_region(dev_t *dev, unsigned int first, unsigned int count, const char *name);
extern int register_chrdev_region(dev_t first, unsigned int count, const char *name);
extern void unregister_chrdev_region(dev_t first, unsigned int count);

extern loff_t no_llseek(struct file *file, loff_t offset, int whence);
extern loff_t noop_llseek(struct file *file, loff_t offset, int whence);
extern loff_t default_llseek(struct file *file, loff_t offset, int whence);
extern int nonseekable_open(struct inode *inode, struct file *file);
extern int simple_open(struct inode *inode, struct file *file);
extern ssize_t simple_read_from_buffer(void __user *to, size_t count, loff_t *pos, const void *from, size_t available);
extern ssize_t simple_write_to_buffer(void *to, size_t available, loff_t *pos, const void __user *from, size_t count);

/* A file that is a number. */
extern int simple_attr_open(struct inode *inode, struct file *file, int (*get)(void *, u64 *),
			    int (*set)(void *, u64), const char *format);
extern int simple_attr_release(struct inode *inode, struct file *file);
extern ssize_t simple_attr_read(struct file *file, char __user *to, size_t count, loff_t *pos);
extern ssize_t simple_attr_write(struct file *file, const char __user *from, size_t count, loff_t *pos);

#define DEFINE_SIMPLE_ATTRIBUTE(fops_name, get, set, format) \
	static int fops_name##_open(struct inode *inode, struct file *file) \
	{ \
		return simple_attr_open(inode, file, get, set, format); \
	} \
	static const struct file_operations fops_name = { \
		.owner = THIS_MODULE, .open = fops_name##_open, .release = simple_attr_release, \
		.read = simple_attr_read, .write = simple_attr_write, .llseek = no_llseek }
#define DEFINE_SIMPLE_ATTRIBUTE_SIGNED(fops_name, get, set, format) DEFINE_SIMPLE_ATTRIBUTE(fops_name, get, set, format)

#endif
