// SPDX-License-Identifier: MIT OR Apache-2.0
// seq_file: records into a buffer that grows until one fits, and from there to the reader.
#include "host.h"
#include <linux/kernel.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

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

/* Fills the empty buffer with whole records from the index on; at least one if there is one. */
static int fill(struct seq_file *m)
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
	}
	m->op->stop(m, record);
	return error;
}

ssize_t seq_read(struct file *file, char __user *buf, size_t size, loff_t *pos)
{
	struct seq_file *m = seq_of(file);
	size_t copied = 0;
	int error = 0;

	if (*pos == 0 && m->read_pos != 0) {
		m->index = 0;
		m->count = 0;
	}
	while (copied < size) {
		size_t n = min(m->count, size - copied);

		memcpy(buf + copied, m->buf + m->from, n);
		copied += n;
		m->from += n;
		m->count -= n;
		if (copied == size)
			break;
		error = fill(m);
		if (error || !m->count)
			break;
	}
	*pos += (loff_t)copied;
	m->read_pos = *pos;
	return copied ? (ssize_t)copied : error;
}

loff_t seq_lseek(struct file *file, loff_t offset, int whence)
{
	if (whence != SEEK_SET || offset != 0)
		return -EINVAL;
	seq_of(file)->index = 0;
	seq_of(file)->count = 0;
	file->f_pos = 0;
	return 0;
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
	seq_printf(m, "%s%llu", delimiter, value);
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
