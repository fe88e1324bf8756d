// SPDX-License-Identifier: MIT OR Apache-2.0
// seq_file: records into a buffer that grows until one fits, and from there to the reader.
#include "host.h"
#include <linux/kernel.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <linux/uio.h>

static struct seq_file *seq_of(struct file *file) { return file->private_data; }

int seq_open(struct file *file, const struct seq_operations *op)
{
	struct seq_file *m = kapi_alloc(sizeof(*m));

	if (!m)
		return -ENOMEM;
	mutex_init(&m->lock);
	m->op = op;
	m->file = file;
	file->private_data = m;
	return 0;
}

static int grow(struct seq_file *m, size_t size)
{
	char *buf = kapi_alloc(size);

	if (!buf)
		return -ENOMEM;
	if (m->buf)
		kapi_free(m->buf, m->size);
	m->buf = buf;
	m->size = size;
	m->count = 0;
	return 0;
}

/* Fills the empty buffer with whole records from the index on, until it has @want bytes; at least one if there is one. */
static int fill(struct seq_file *m, size_t want)
{
	int error = m->buf ? 0 : grow(m, PAGE_SIZE);
	void *record;

	if (error)
		return error;
	m->from = 0;
	m->count = 0;
	record = m->op->start(m, &m->index);
	while (record) {
		size_t before = m->count;
		loff_t index = m->index;

		if (IS_ERR(record)) {
			error = (int)PTR_ERR(record);
			break;
		}
		error = m->op->show(m, record);
		if (error < 0)
			break;
		if (error == SEQ_SKIP)
			m->count = before;
		error = 0;
		if (seq_has_overflowed(m)) {
			m->count = before;
			if (before)
				break;
			m->op->stop(m, record);
			error = grow(m, m->size * 2);
			if (error)
				return error;
			record = m->op->start(m, &m->index);
			continue;
		}
		record = m->op->next(m, record, &m->index);
		if (m->index == index)
			m->index++; /* a next() that forgot to move on */
		if (m->count >= want)
			break;
	}
	m->op->stop(m, record);
	return error;
}

/* Goes to an offset by making the records before it once more. */
static int traverse(struct seq_file *m, loff_t offset)
{
	m->index = 0;
	m->count = m->from = 0;
	while (offset) {
		size_t skipped;
		int error = fill(m, (size_t)offset);

		if (error)
			return error;
		skipped = min((size_t)offset, m->count);
		if (!skipped)
			return 0;
		m->from += skipped;
		m->count -= skipped;
		offset -= (loff_t)skipped;
	}
	return 0;
}

static size_t give(struct seq_file *m, char __user *buf, size_t size)
{
	size_t n = min(m->count, size);

	memcpy(buf, m->buf + m->from, n);
	m->from += n;
	m->count -= n;
	return n;
}

ssize_t seq_read(struct file *file, char __user *buf, size_t size, loff_t *pos)
{
	struct seq_file *m = seq_of(file);
	size_t copied = 0;
	int error = 0;

	if (*pos != m->read_pos) {
		error = traverse(m, *pos);
		m->read_pos = error ? 0 : *pos;
		if (error) {
			m->index = 0;
			m->count = 0;
			return error;
		}
	}
	copied = give(m, buf, size);
	/* One start() a call: an iterator that goes back to its begin at its end has said so by then. */
	if (!m->count && copied < size) {
		error = fill(m, size - copied);
		if (!error)
			copied += give(m, buf + copied, size - copied);
	}
	*pos += (loff_t)copied;
	m->read_pos = *pos;
	return copied ? (ssize_t)copied : error;
}

ssize_t seq_read_iter(struct kiocb *iocb, struct iov_iter *iter)
{
	char *page = kapi_alloc(PAGE_SIZE);
	size_t copied = 0;
	ssize_t n = 0;

	if (!page)
		return -ENOMEM;
	while (iov_iter_count(iter)) {
		n = seq_read(iocb->ki_filp, page, min(iov_iter_count(iter), (size_t)PAGE_SIZE), &iocb->ki_pos);
		if (n <= 0)
			break;
		copied += copy_to_iter(page, (size_t)n, iter);
	}
	kapi_free(page, PAGE_SIZE);
	return copied ? (ssize_t)copied : n;
}

loff_t seq_lseek(struct file *file, loff_t offset, int whence)
{
	struct seq_file *m = seq_of(file);

	if (whence == SEEK_CUR)
		offset += file->f_pos;
	else if (whence != SEEK_SET)
		return -EINVAL;
	if (offset < 0)
		return -EINVAL;
	if (offset != m->read_pos) {
		int error = traverse(m, offset);

		m->read_pos = file->f_pos = error ? 0 : offset;
		if (error) {
			m->index = 0;
			m->count = 0;
			return error;
		}
	}
	file->f_pos = offset;
	return offset;
}

int seq_release(struct inode *inode, struct file *file)
{
	struct seq_file *m = seq_of(file);

	if (m->buf)
		kapi_free(m->buf, m->size);
	kapi_free(m, sizeof(*m));
	return 0;
}

void *__seq_open_private(struct file *file, const struct seq_operations *op, int bytes)
{
	void *private = kzalloc((size_t)bytes, GFP_KERNEL);

	if (!private)
		return NULL;
	if (seq_open(file, op)) {
		kfree(private);
		return NULL;
	}
	seq_of(file)->private = private;
	return private;
}

int seq_open_private(struct file *file, const struct seq_operations *op, int bytes)
{
	return __seq_open_private(file, op, bytes) ? 0 : -ENOMEM;
}

int seq_release_private(struct inode *inode, struct file *file)
{
	kfree(seq_of(file)->private);
	return seq_release(inode, file);
}

static void *single_start(struct seq_file *m, loff_t *pos) { return *pos == 0 ? SEQ_START_TOKEN : NULL; }

static void *single_next(struct seq_file *m, void *v, loff_t *pos)
{
	++*pos;
	return NULL;
}

static void single_stop(struct seq_file *m, void *v)
{
}

int single_open(struct file *file, int (*show)(struct seq_file *m, void *v), void *data)
{
	struct seq_operations *op = kapi_alloc(sizeof(*op));
	int error;

	if (!op)
		return -ENOMEM;
	op->start = single_start;
	op->next = single_next;
	op->stop = single_stop;
	op->show = show;
	error = seq_open(file, op);
	if (error)
		kapi_free(op, sizeof(*op));
	else
		seq_of(file)->private = data;
	return error;
}

int single_open_size(struct file *file, int (*show)(struct seq_file *m, void *v), void *data, size_t size)
{
	int error = single_open(file, show, data);

	return error ? error : grow(seq_of(file), size);
}

int single_release(struct inode *inode, struct file *file)
{
	struct seq_operations *op = (struct seq_operations *)seq_of(file)->op;
	int result = seq_release(inode, file);

	kapi_free(op, sizeof(*op));
	return result;
}

int seq_write(struct seq_file *m, const void *data, size_t n)
{
	if (m->count + n >= m->size) {
		m->count = m->size;
		return -1;
	}
	memcpy(m->buf + m->count, data, n);
	m->count += n;
	return 0;
}

int seq_puts(struct seq_file *m, const char *s) { return seq_write(m, s, strlen(s)); }
int seq_putc(struct seq_file *m, char c) { return seq_write(m, &c, 1); }

int seq_vprintf(struct seq_file *m, const char *fmt, va_list args)
{
	size_t room = m->size - m->count;
	int len = vsnprintf(m->buf + m->count, room, fmt, args);

	if ((size_t)len >= room) {
		m->count = m->size;
		return -1;
	}
	m->count += (size_t)len;
	return 0;
}

int seq_printf(struct seq_file *m, const char *fmt, ...) { return WITH_ARGS(fmt, seq_vprintf(m, fmt, args)); }

void seq_put_decimal_ull(struct seq_file *m, const char *delimiter, unsigned long long value)
{
	seq_put_decimal_ull_width(m, delimiter, value, 0);
}

void seq_put_decimal_ull_width(struct seq_file *m, const char *delimiter, unsigned long long value, unsigned int width)
{
	seq_printf(m, "%s%*llu", delimiter ?: "", (int)width, value);
}

void seq_put_decimal_ll(struct seq_file *m, const char *delimiter, long long value)
{
	seq_printf(m, "%s%lld", delimiter ?: "", value);
}

void seq_put_hex_ll(struct seq_file *m, const char *delimiter, unsigned long long value, unsigned int width)
{
	seq_printf(m, "%s%0*llx", delimiter ?: "", (int)width, value);
}

void seq_escape_mem(struct seq_file *m, const char *src, size_t len, unsigned int flags, const char *only)
{
	size_t room = m->size - m->count;
	int n = string_escape_mem(src, len, m->buf + m->count, room, flags, only);

	seq_commit(m, (size_t)n < room ? n : -1);
}

/* Fills up to the width that seq_setwidth() asked for. */
void seq_pad(struct seq_file *m, char c)
{
	while (m->count < m->pad_until && !seq_has_overflowed(m))
		seq_putc(m, ' ');
	if (c)
		seq_putc(m, c);
}

void seq_hex_dump(struct seq_file *m, const char *prefix, int prefix_type, int rowsize, int groupsize,
		  const void *buf, size_t len, bool ascii)
{
	const u8 *bytes = buf;
	char line[32 * 3 + 32 + 4];
	size_t row;

	if (rowsize != 16 && rowsize != 32)
		rowsize = 16;
	for (row = 0; row < len && !seq_has_overflowed(m); row += (size_t)rowsize) {
		hex_dump_to_buffer(bytes + row, len - row, rowsize, groupsize, line, sizeof(line), ascii);
		if (prefix_type == DUMP_PREFIX_ADDRESS)
			seq_printf(m, "%s%px: %s\n", prefix, bytes + row, line);
		else if (prefix_type == DUMP_PREFIX_OFFSET)
			seq_printf(m, "%s%.8zx: %s\n", prefix, row, line);
		else
			seq_printf(m, "%s%s\n", prefix, line);
	}
}

struct list_head *seq_list_start(struct list_head *head, loff_t pos)
{
	struct list_head *at;

	list_for_each(at, head)
		if (pos-- == 0)
			return at;
	return NULL;
}

struct list_head *seq_list_start_head(struct list_head *head, loff_t pos)
{
	return pos ? seq_list_start(head, pos - 1) : head;
}

struct list_head *seq_list_next(void *v, struct list_head *head, loff_t *pos)
{
	struct list_head *next = ((struct list_head *)v)->next;

	++*pos;
	return next == head ? NULL : next;
}

struct hlist_node *seq_hlist_start(struct hlist_head *head, loff_t pos)
{
	struct hlist_node *at;

	hlist_for_each(at, head)
		if (pos-- == 0)
			return at;
	return NULL;
}

struct hlist_node *seq_hlist_next(void *v, struct hlist_head *head, loff_t *pos)
{
	++*pos;
	return v == SEQ_START_TOKEN ? head->first : ((struct hlist_node *)v)->next;
}

struct hlist_node *seq_hlist_start_head(struct hlist_head *head, loff_t pos)
{
	return pos ? seq_hlist_start(head, pos - 1) : SEQ_START_TOKEN;
}

/* A reader's list is walked as any other: its pointers are whole at any time. */
SAME_AS(seq_list_start_rcu, seq_list_start);
SAME_AS(seq_list_start_head_rcu, seq_list_start_head);
SAME_AS(seq_list_next_rcu, seq_list_next);
SAME_AS(seq_hlist_start_rcu, seq_hlist_start);
SAME_AS(seq_hlist_start_head_rcu, seq_hlist_start_head);
SAME_AS(seq_hlist_next_rcu, seq_hlist_next);
