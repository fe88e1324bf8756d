/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Files that are open: what open.c gives to those who use them for the host. Not for modules. */
#ifndef _OPEN_H
#define _OPEN_H

#include <linux/fs.h>

struct proc_dir_entry;

/* A file that was found by its path, open. */
struct opened {
	struct proc_dir_entry *entry;
	struct module *owner;
	struct inode inode;
	struct dentry dentry;
	struct address_space mapping;
	struct file file;
	char path[256];
};

extern long kapi_open(struct opened *o, const char *path, unsigned int flags);
extern void kapi_close(struct opened *o);
extern ssize_t kapi_file_read(struct opened *o, char __user *buf, size_t count);
extern ssize_t kapi_file_write(struct opened *o, const char __user *buf, size_t count);
extern loff_t kapi_file_seek(struct opened *o, loff_t offset, int whence);
extern long kapi_file_ioctl(struct opened *o, unsigned int cmd, unsigned long arg);
extern long kapi_file_fasync(struct opened *o, int on);
extern long kapi_file_poll(struct opened *o, long timeout);

#endif
