/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Files in debugfs; read with --cat NAME like those of /proc. */
#ifndef _LINUX_DEBUGFS_H
#define _LINUX_DEBUGFS_H

#include <linux/err.h>
#include <linux/fs.h>
#include <linux/seq_file.h>

extern struct dentry *debugfs_create_dir(const char *name, struct dentry *parent);
extern struct dentry *debugfs_create_file(const char *name, umode_t mode, struct dentry *parent,
					  void *data, const struct file_operations *fops);
extern void debugfs_remove(struct dentry *entry);
extern void debugfs_remove_recursive(struct dentry *entry);

#endif
