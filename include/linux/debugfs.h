/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Files in debugfs; read with --cat NAME like those of /proc, or by their path below /sys/kernel/debug. */
#ifndef _LINUX_DEBUGFS_H
#define _LINUX_DEBUGFS_H

#include <linux/atomic.h>
#include <linux/err.h>
#include <linux/fs.h>
#include <linux/seq_file.h>

struct debugfs_blob_wrapper {
	void *data;
	unsigned long size;
};

extern struct dentry *debugfs_create_dir(const char *name, struct dentry *parent);
extern struct dentry *debugfs_create_file(const char *name, umode_t mode, struct dentry *parent,
					  void *data, const struct file_operations *fops);
extern struct dentry *debugfs_create_file_unsafe(const char *name, umode_t mode, struct dentry *parent,
						 void *data, const struct file_operations *fops);
extern struct dentry *debugfs_lookup(const char *name, struct dentry *parent);
extern void debugfs_remove(struct dentry *entry);
extern void debugfs_remove_recursive(struct dentry *entry);
extern void debugfs_lookup_and_remove(const char *name, struct dentry *parent);

/* They return nothing since 5.8 (debugfs_create_bool() since 6.0); whoever still looks at it sees success. */
extern struct dentry *debugfs_create_u8(const char *name, umode_t mode, struct dentry *parent, u8 *value);
extern struct dentry *debugfs_create_u16(const char *name, umode_t mode, struct dentry *parent, u16 *value);
extern struct dentry *debugfs_create_u32(const char *name, umode_t mode, struct dentry *parent, u32 *value);
extern struct dentry *debugfs_create_u64(const char *name, umode_t mode, struct dentry *parent, u64 *value);
extern struct dentry *debugfs_create_x8(const char *name, umode_t mode, struct dentry *parent, u8 *value);
extern struct dentry *debugfs_create_x16(const char *name, umode_t mode, struct dentry *parent, u16 *value);
extern struct dentry *debugfs_create_x32(const char *name, umode_t mode, struct dentry *parent, u32 *value);
extern struct dentry *debugfs_create_x64(const char *name, umode_t mode, struct dentry *parent, u64 *value);
extern struct dentry *debugfs_create_ulong(const char *name, umode_t mode, struct dentry *parent,
					  unsigned long *value);
extern struct dentry *debugfs_create_size_t(const char *name, umode_t mode, struct dentry *parent, size_t *value);
extern struct dentry *debugfs_create_atomic_t(const char *name, umode_t mode, struct dentry *parent,
					  atomic_t *value);
extern struct dentry *debugfs_create_bool(const char *name, umode_t mode, struct dentry *parent, bool *value);
extern struct dentry *debugfs_create_str(const char *name, umode_t mode, struct dentry *parent, char **value);
extern struct dentry *debugfs_create_blob(const char *name, umode_t mode, struct dentry *parent,
					  struct debugfs_blob_wrapper *value);

static inline bool debugfs_initialized(void) { return true; }
static inline int debugfs_file_get(struct dentry *dentry) { return 0; }
static inline void debugfs_file_put(struct dentry *dentry) { }

#define DEFINE_DEBUGFS_ATTRIBUTE(fops, get, set, format) DEFINE_SIMPLE_ATTRIBUTE(fops, get, set, format)
#define DEFINE_DEBUGFS_ATTRIBUTE_SIGNED(fops, get, set, format) DEFINE_SIMPLE_ATTRIBUTE(fops, get, set, format)

#endif
