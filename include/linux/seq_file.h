/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Files made of records: start, show, next, stop. */
#ifndef _LINUX_SEQ_FILE_H
#define _LINUX_SEQ_FILE_H

#include <linux/fs.h>
#include <linux/mutex.h>
#include <linux/stdarg.h>
#include <linux/string.h>
#include <linux/string_helpers.h>
#include <linux/types.h>

struct seq_operations;

struct seq_file {
	char *buf;
	size_t size;
	size_t from;
	size_t count;
	size_t pad_until;
	loff_t index;
	loff_t read_pos;
	struct mutex lock;
	const struct seq_operations *op;
	const struct file *file;
	void *private;
};

struct seq_operations {
	void *(*start)(struct seq_file *m, loff_t *pos);
	void (*stop)(struct seq_file *m, void *v);
	void *(*next)(struct seq_file *m, void *v, loff_t *pos);
	int (*show)(struct seq_file *m, void *v);
};

#define SEQ_SKIP 1
#define SEQ_START_TOKEN ((void *)1)

extern int seq_open(struct file *file, const struct seq_operations *op);
extern ssize_t seq_read(struct file *file, char __user *buf, size_t size, loff_t *pos);
extern loff_t seq_lseek(struct file *file, loff_t offset, int whence);
extern int seq_release(struct inode *inode, struct file *file);
extern int seq_release_private(struct inode *inode, struct file *file);
extern int seq_open_private(struct file *file, const struct seq_operations *op, int bytes);
extern void *__seq_open_private(struct file *file, const struct seq_operations *op, int bytes);
extern int single_open(struct file *file, int (*show)(struct seq_file *m, void *v), void *data);
extern int single_open_size(struct file *file, int (*show)(struct seq_file *m, void *v), void *data, size_t size);
extern int single_release(struct inode *inode, struct file *file);

/* They return int up to 4.2; whoever still looks at it sees success. */
extern int seq_printf(struct seq_file *m, const char *fmt, ...);
extern int seq_vprintf(struct seq_file *m, const char *fmt, va_list args);
extern int seq_puts(struct seq_file *m, const char *s);
extern int seq_putc(struct seq_file *m, char c);
extern int seq_write(struct seq_file *m, const void *data, size_t n);
extern void seq_put_decimal_ull(struct seq_file *m, const char *delimiter, unsigned long long value);
extern void seq_put_decimal_ull_width(struct seq_file *m, const char *delimiter, unsigned long long value,
				      unsigned int width);
extern void seq_put_decimal_ll(struct seq_file *m, const char *delimiter, long long value);
extern void seq_put_hex_ll(struct seq_file *m, const char *delimiter, unsigned long long value, unsigned int width);
extern void seq_escape_mem(struct seq_file *m, const char *src, size_t len, unsigned int flags, const char *only);
extern void seq_hex_dump(struct seq_file *m, const char *prefix, int prefix_type, int rowsize, int groupsize,
			 const void *buf, size_t len, bool ascii);
extern void seq_pad(struct seq_file *m, char c);
extern ssize_t seq_read_iter(struct kiocb *iocb, struct iov_iter *iter);
#define seq_has_overflowed(m) ((m)->count == (m)->size)
static inline void seq_setwidth(struct seq_file *m, size_t size) { m->pad_until = m->count + size; }
static inline void seq_escape_str(struct seq_file *m, const char *src, unsigned int flags, const char *only)
{
	seq_escape_mem(m, src, strlen(src), flags, only);
}
static inline void seq_escape(struct seq_file *m, const char *s, const char *only)
{
	seq_escape_str(m, s, ESCAPE_OCTAL, only);
}

static inline size_t seq_get_buf(struct seq_file *m, char **bufp)
{
	*bufp = m->count < m->size ? m->buf + m->count : NULL;
	return m->size - m->count;
}

static inline void seq_commit(struct seq_file *m, int num)
{
	m->count = num < 0 ? m->size : m->count + (size_t)num;
}

static inline void seq_show_option(struct seq_file *m, const char *name, const char *value)
{
	seq_putc(m, ',');
	seq_escape(m, name, ",= \t\n\\");
	if (value) {
		seq_putc(m, '=');
		seq_escape(m, value, ", \t\n\\");
	}
}

extern struct list_head *seq_list_start(struct list_head *head, loff_t pos);
extern struct list_head *seq_list_start_head(struct list_head *head, loff_t pos);
extern struct list_head *seq_list_next(void *v, struct list_head *head, loff_t *pos);
extern struct hlist_node *seq_hlist_start(struct hlist_head *head, loff_t pos);
extern struct hlist_node *seq_hlist_start_head(struct hlist_head *head, loff_t pos);
extern struct hlist_node *seq_hlist_next(void *v, struct hlist_head *head, loff_t *pos);
extern struct list_head *seq_list_start_rcu(struct list_head *head, loff_t pos);
extern struct list_head *seq_list_start_head_rcu(struct list_head *head, loff_t pos);
extern struct list_head *seq_list_next_rcu(void *v, struct list_head *head, loff_t *pos);
extern struct hlist_node *seq_hlist_start_rcu(struct hlist_head *head, loff_t pos);
extern struct hlist_node *seq_hlist_start_head_rcu(struct hlist_head *head, loff_t pos);
extern struct hlist_node *seq_hlist_next_rcu(void *v, struct hlist_head *head, loff_t *pos);

#define DEFINE_SEQ_ATTRIBUTE(name) \
	static int name##_open(struct inode *inode, struct file *file) { return seq_open(file, &name##_sops); } \
	static const struct file_operations name##_fops = { \
		.owner = THIS_MODULE, .open = name##_open, .read = seq_read, \
		.llseek = seq_lseek, .release = seq_release }
#define DEFINE_SHOW_ATTRIBUTE(name) \
	static int name##_open(struct inode *inode, struct file *file) \
	{ \
		return single_open(file, name##_show, inode->i_private); \
	} \
	static const struct file_operations name##_fops = { \
		.owner = THIS_MODULE, .open = name##_open, .read = seq_read, \
		.llseek = seq_lseek, .release = single_release }
#define DEFINE_PROC_SHOW_ATTRIBUTE(name) \
	static int name##_open(struct inode *inode, struct file *file) \
	{ \
		return single_open(file, name##_show, pde_data(inode)); \
	} \
	static const struct proc_ops name##_proc_ops = { \
		.proc_open = name##_open, .proc_read = seq_read, .proc_lseek = seq_lseek, \
		.proc_release = single_release }

#endif
