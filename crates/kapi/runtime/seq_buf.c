// SPDX-License-Identifier: MIT OR Apache-2.0
// Text in a buffer that never overflows.
#include "host.h"
#include <linux/hex.h>
#include <linux/seq_buf.h>
#include <linux/string.h>

int seq_buf_vprintf(struct seq_buf *s, const char *fmt, va_list args)
{
	size_t left = seq_buf_buffer_left(s);
	int len = left ? vsnprintf(s->buffer + s->len, left, fmt, args) : 0;

	if (len < (long)left) {
		s->len += (size_t)len;
		return 0;
	}
	seq_buf_set_overflow(s);
	return -1;
}

int seq_buf_printf(struct seq_buf *s, const char *fmt, ...) { return WITH_ARGS(fmt, seq_buf_vprintf(s, fmt, args)); }

int seq_buf_putmem(struct seq_buf *s, const void *mem, unsigned int len)
{
	if (len > seq_buf_buffer_left(s)) {
		seq_buf_set_overflow(s);
		return -1;
	}
	memcpy(s->buffer + s->len, mem, len);
	s->len += len;
	return 0;
}

int seq_buf_puts(struct seq_buf *s, const char *str)
{
	/* With its end, which the next text overwrites. */
	int error = seq_buf_putmem(s, str, (unsigned int)strlen(str) + 1);

	if (!error)
		s->len--;
	return error;
}

int seq_buf_putc(struct seq_buf *s, unsigned char c) { return seq_buf_putmem(s, &c, 1); }

/* Words of eight bytes, each as one number, with a blank behind it. */
int seq_buf_putmem_hex(struct seq_buf *s, const void *mem, unsigned int len)
{
	const u8 *from = mem;

	while (len) {
		unsigned int word = min(len, 8U), i;
		char text[17], *to = text;

		for (i = word; i--;)
			to += sprintf(to, "%02x", from[i]);
		*to++ = ' ';
		if (seq_buf_putmem(s, text, (unsigned int)(to - text)))
			return -1;
		from += word;
		len -= word;
	}
	return 0;
}
