/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* A text that grows by pieces, as KUnit builds its messages. KUnit's own tests know the record's fields. */
#ifndef _STRING_STREAM_H
#define _STRING_STREAM_H

#include <linux/list.h>
#include <linux/spinlock.h>
#include <linux/types.h>

struct string_stream {
	size_t length;
	struct list_head fragments;
	/* Of length and pieces. */
	spinlock_t lock;
	gfp_t gfp;
	/* Each addition ends a line. */
	bool append_newlines;
};

extern int string_stream_add(struct string_stream *stream, const char *fmt, ...);

#endif
