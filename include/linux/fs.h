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
#include <linux/poll.h>
#include <linux/rwsem.h>
#include <linux/stat.h>
#include <linux/types.h>
#include <linux/fcntl.h>
#include <linux/uidgid.h>
#include <kapi/bytes.h>

struct file;
struct inode;
struct dentry;
struct cdev;
struct module;
struct vm_area_struct;
struct iov_iter;
struct iovec;
struct kiocb;
struct super_block {
	union {
		struct rw_semaphore s_umount;
		unsigned char kapi_bytes[KAPI_SUPER_BLOCK_BYTES];
	};
};
KAPI_IS_LARGE(struct super_block, KAPI_SUPER_BLOCK_BYTES);
struct address_space;
typedef int (*filldir_t)(void *, const char *, int, loff_t, u64, unsigned);

struct qstr {
	const unsigned char *name;
	u32 len;
};

struct dentry {
	union {
		struct {
			struct dentry *d_parent;
			struct qstr d_name;
			struct inode *d_inode;
			unsigned char d_iname[40];
			/* The whole path, of a file that is open. */
			const char *kapi_path;
		};
		unsigned char kapi_bytes[KAPI_DENTRY_BYTES];
	};
};
KAPI_IS_LARGE(struct dentry, KAPI_DENTRY_BYTES);

struct vfsmount;
struct path {
	struct vfsmount *mnt;
	struct dentry *dentry;
};

struct address_space {
	union {
		struct {
			struct inode *host;
			unsigned long nrpages;
			struct rw_semaphore i_mmap_rwsem;
			void *private_data;
		};
		unsigned char kapi_bytes[KAPI_ADDRESS_SPACE_BYTES];
	};
};
KAPI_IS_LARGE(struct address_space, KAPI_ADDRESS_SPACE_BYTES);

struct inode {
	union {
		struct {
			umode_t i_mode;
			kuid_t i_uid;
			kgid_t i_gid;
			dev_t i_rdev;
			loff_t i_size;
			unsigned long i_ino;
			const struct file_operations *i_fop;
			struct super_block *i_sb;
			struct address_space *i_mapping;
			spinlock_t i_lock;
			struct rw_semaphore i_rwsem;
			union {
				struct cdev *i_cdev;
			};
			void *i_private;
			void *kapi_pde_data;
		};
		unsigned char kapi_bytes[KAPI_INODE_BYTES];
	};
};
KAPI_IS_LARGE(struct inode, KAPI_INODE_BYTES);

struct file {
	union {
		struct {
			struct path f_path;
			struct inode *f_inode;
			const struct file_operations *f_op;
			unsigned int f_flags;
			fmode_t f_mode;
			loff_t f_pos;
			const struct cred *f_cred;
			struct address_space *f_mapping;
			atomic_long_t f_count;
			spinlock_t f_lock;
			void *private_data;
			/* The process that asked for signals, and how many it was sent. */
			struct task_struct *kapi_owner;
			unsigned long kapi_signals;
		};
		unsigned char kapi_bytes[KAPI_FILE_BYTES];
	};
};
KAPI_IS_LARGE(struct file, KAPI_FILE_BYTES);
#define f_dentry f_path.dentry

#define FMODE_READ ((fmode_t)0x1)
#define FMODE_WRITE ((fmode_t)0x2)
#define FMODE_LSEEK ((fmode_t)0x4)
#define FMODE_PREAD ((fmode_t)0x8)
#define FMODE_PWRITE ((fmode_t)0x10)
#define FMODE_EXEC ((fmode_t)0x20)
#define FMODE_STREAM ((fmode_t)0x200000)
#define FMODE_CAN_READ ((fmode_t)0x20000)
#define FMODE_CAN_WRITE ((fmode_t)0x40000)
#define READ 0
#define WRITE 1
#define SEEK_SET 0
#define SEEK_CUR 1
#define SEEK_END 2

struct file_operations {
	struct module *owner;
	loff_t (*llseek)(struct file *, loff_t, int);
	ssize_t (*read)(struct file *, char __user *, size_t, loff_t *);
	ssize_t (*write)(struct file *, const char __user *, size_t, loff_t *);
	ssize_t (*read_iter)(struct kiocb *, struct iov_iter *);
	ssize_t (*write_iter)(struct kiocb *, struct iov_iter *);
	/* Up to 4.0. */
	ssize_t (*aio_read)(struct kiocb *, const struct iovec *, unsigned long, loff_t);
	ssize_t (*aio_write)(struct kiocb *, const struct iovec *, unsigned long, loff_t);
	__poll_t (*poll)(struct file *, struct poll_table_struct *);
	int (*ioctl)(struct inode *, struct file *, unsigned int, unsigned long);
	long (*unlocked_ioctl)(struct file *, unsigned int, unsigned long);
	long (*compat_ioctl)(struct file *, unsigned int, unsigned long);
	int (*mmap)(struct file *, struct vm_area_struct *);
	int (*open)(struct inode *, struct file *);
	int (*flush)(struct file *, void *id);
	int (*release)(struct inode *, struct file *);
	int (*fsync)(struct file *, loff_t, loff_t, int datasync);
	int (*fasync)(int, struct file *, int);
	unsigned int fop_flags;
	unsigned long (*get_unmapped_area)(struct file *, unsigned long, unsigned long, unsigned long, unsigned long);
	long (*fallocate)(struct file *, int mode, loff_t offset, loff_t len);
	int (*readdir)(struct file *, void *, filldir_t);
};

/* Of what a kiocb says: it is done with, or this is called. */
struct kiocb {
	struct file *ki_filp;
	loff_t ki_pos;
	void (*ki_complete)(struct kiocb *iocb, long result);
	void *private;
	int ki_flags;
};
#define IOCB_APPEND 0x2
#define IOCB_DIRECT 0x4
#define IOCB_NOWAIT 0x8
static inline bool is_sync_kiocb(struct kiocb *iocb) { return iocb->ki_complete == NULL; }

/* Who wants a signal when something comes. */
struct fasync_struct {
	struct fasync_struct *fa_next;
	struct file *fa_file;
	int fa_fd;
};
extern int fasync_helper(int fd, struct file *file, int on, struct fasync_struct **list);
extern void kill_fasync(struct fasync_struct **list, int sig, int band);

extern ssize_t generic_file_read_iter(struct kiocb *iocb, struct iov_iter *to);
extern ssize_t generic_file_write_iter(struct kiocb *iocb, struct iov_iter *from);
/* Opens what the module itself has: devices, and files under /proc and /sys. */
extern struct file *filp_open(const char *name, int flags, umode_t mode);
extern int filp_close(struct file *file, void *id);
static inline void fput(struct file *file) { (void)filp_close(file, NULL); }
extern ssize_t kernel_read(struct file *file, void *buf, size_t count, loff_t *pos);
extern ssize_t kernel_write(struct file *file, const void *buf, size_t count, loff_t *pos);

static inline struct inode *file_inode(const struct file *file) { return file->f_inode; }
static inline loff_t i_size_read(const struct inode *inode) { return inode->i_size; }
static inline void i_size_write(struct inode *inode, loff_t size) { inode->i_size = size; }
extern char *d_path(const struct path *path, char *buf, int len);
extern char *dentry_path_raw(const struct dentry *dentry, char *buf, int len);
static inline char *file_path(struct file *file, char *buf, int len) { return d_path(&file->f_path, buf, len); }
static inline struct inode *d_inode(const struct dentry *dentry) { return dentry->d_inode; }
static inline struct dentry *file_dentry(const struct file *file) { return file->f_path.dentry; }
static inline struct file *get_file(struct file *file)
{
	atomic_long_inc(&file->f_count);
	return file;
}
#define fops_get(fops) (fops)
#define fops_put(fops) ((void)(fops))
#define replace_fops(file, fops) ((void)((file)->f_op = (fops)))
#define iminor(inode) MINOR((inode)->i_rdev)
#define imajor(inode) MAJOR((inode)->i_rdev)

extern int register_chrdev(unsigned int major, const char *name, const struct file_operations *fops);
extern void unregister_chrdev(unsigned int major, const char *name);
extern int alloc_chrdev_region(dev_t *dev, unsigned int first, unsigned int count, const char *name);
extern int register_chrdev_region(dev_t first, unsigned int count, const char *name);
extern void unregister_chrdev_region(dev_t first, unsigned int count);

extern int __register_chrdev(unsigned int major, unsigned int first, unsigned int count, const char *name,
			     const struct file_operations *fops);
extern void __unregister_chrdev(unsigned int major, unsigned int first, unsigned int count, const char *name);

extern loff_t no_llseek(struct file *file, loff_t offset, int whence);
extern loff_t noop_llseek(struct file *file, loff_t offset, int whence);
extern loff_t default_llseek(struct file *file, loff_t offset, int whence);
extern loff_t fixed_size_llseek(struct file *file, loff_t offset, int whence, loff_t size);
extern loff_t no_seek_end_llseek(struct file *file, loff_t offset, int whence);
extern loff_t generic_file_llseek(struct file *file, loff_t offset, int whence);
extern loff_t vfs_setpos(struct file *file, loff_t offset, loff_t limit);
extern ssize_t memory_read_from_buffer(void *to, size_t count, loff_t *pos, const void *from, size_t available);
extern int stream_open(struct inode *inode, struct file *file);
extern long compat_ptr_ioctl(struct file *file, unsigned int cmd, unsigned long arg);
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

/* A file system, known by its name; none is mounted here. */
struct fs_context;
struct fs_parameter_spec;
struct file_system_type {
	const char *name;
	int fs_flags;
	int (*init_fs_context)(struct fs_context *fc);
	const struct fs_parameter_spec *parameters;
	struct dentry *(*mount)(struct file_system_type *type, int flags, const char *name, void *data);
	void (*kill_sb)(struct super_block *sb);
	struct module *owner;
	struct file_system_type *next;
	struct hlist_head fs_supers;
};
#define FS_REQUIRES_DEV 1
#define FS_BINARY_MOUNTDATA 2
#define FS_HAS_SUBTYPE 4
#define FS_USERNS_MOUNT 8
extern int register_filesystem(struct file_system_type *type);
extern int unregister_filesystem(struct file_system_type *type);
/* One that is registered, after its module was asked for; with a reference to that. */
extern struct file_system_type *get_fs_type(const char *name);
extern void put_filesystem(struct file_system_type *type);

#endif
