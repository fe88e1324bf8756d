/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Text in a buffer that never overflows: what does not fit is left out, and that is remembered.
 *
 * Linux counterpart: include/linux/seq_buf.h @ 7.3. Invariant: len > size if and only if something did not fit. */
#ifndef _LINUX_SEQ_BUF_H
#define _LINUX_SEQ_BUF_H

#include <linux/bug.h>
#include <linux/kernel.h>
#include <linux/types.h>

struct seq_buf {
	char *buffer;
	size_t size;
	size_t len;
};

#define DECLARE_SEQ_BUF(NAME, SIZE) struct seq_buf NAME = { .buffer = (char[SIZE]){ 0 }, .size = SIZE }

static inline void seq_buf_clear(struct seq_buf *s)
{
	s->len = 0;
	if (s->size)
		s->buffer[0] = '\0';
}

static inline void seq_buf_init(struct seq_buf *s, char *buf, unsigned int size)
{
	s->buffer = buf;
	s->size = size;
	seq_buf_clear(s);
}

static inline bool seq_buf_has_overflowed(struct seq_buf *s) { return s->len > s->size; }
static inline void seq_buf_set_overflow(struct seq_buf *s) { s->len = s->size + 1; }
static inline unsigned int seq_buf_buffer_left(struct seq_buf *s)
{
	return seq_buf_has_overflowed(s) ? 0 : (unsigned int)(s->size - s->len);
}
static inline unsigned int seq_buf_used(struct seq_buf *s) { return (unsigned int)min(s->len, s->size); }

/* Ends the text, over its last character if the buffer is full. */
static inline const char *seq_buf_str(struct seq_buf *s)
{
	if (WARN_ON(s->size == 0))
		return "";
	s->buffer[min(s->len, s->size - 1)] = '\0';
	return s->buffer;
}
static inline void seq_buf_terminate(struct seq_buf *s) { seq_buf_str(s); }

/* What is left of the buffer, to be written to by the caller; then how much was written, or that it was too little. */
static inline size_t seq_buf_get_buf(struct seq_buf *s, char **bufp)
{
	size_t left = seq_buf_buffer_left(s);

	*bufp = left ? s->buffer + s->len : NULL;
	return left;
}

static inline void seq_buf_commit(struct seq_buf *s, int num)
{
	if (num < 0)
		seq_buf_set_overflow(s);
	else
		s->len += (size_t)num;
}

static inline void seq_buf_pop(struct seq_buf *s)
{
	if (s->len)
		s->len--;
}

/* Return: 0, or -1 if it does not fit. */
extern int seq_buf_vprintf(struct seq_buf *s, const char *fmt, va_list args);
extern int seq_buf_printf(struct seq_buf *s, const char *fmt, ...) __printf(2, 3);
extern int seq_buf_puts(struct seq_buf *s, const char *str);
extern int seq_buf_putc(struct seq_buf *s, unsigned char c);
extern int seq_buf_putmem(struct seq_buf *s, const void *mem, unsigned int len);
extern int seq_buf_putmem_hex(struct seq_buf *s, const void *mem, unsigned int len);

#endif
