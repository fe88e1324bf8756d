/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* How a failed expectation is told: records of what was compared, and functions that put them into words. */
#ifndef _KUNIT_ASSERT_H
#define _KUNIT_ASSERT_H

#include <linux/err.h>
#include <linux/printk.h>
#include <linux/types.h>

struct string_stream;

enum kunit_assert_type {
	KUNIT_ASSERTION,
	KUNIT_EXPECTATION
};

struct kunit_loc {
	int line;
	const char *file;
};
#define KUNIT_CURRENT_LOC { .file = __FILE__, .line = __LINE__ }

/* What the records begin with. */
struct kunit_assert {};

typedef void (*assert_format_t)(const struct kunit_assert *assert, const struct va_format *message,
				struct string_stream *stream);

struct kunit_fail_assert {
	struct kunit_assert assert;
};
struct kunit_unary_assert {
	struct kunit_assert assert;
	const char *condition;
	bool expected_true;
};
struct kunit_ptr_not_err_assert {
	struct kunit_assert assert;
	const char *text;
	const void *value;
};
struct kunit_binary_assert_text {
	const char *operation;
	const char *left_text;
	const char *right_text;
};
struct kunit_binary_assert {
	struct kunit_assert assert;
	const struct kunit_binary_assert_text *text;
	long long left_value;
	long long right_value;
};
struct kunit_binary_ptr_assert {
	struct kunit_assert assert;
	const struct kunit_binary_assert_text *text;
	const void *left_value;
	const void *right_value;
};
struct kunit_binary_str_assert {
	struct kunit_assert assert;
	const struct kunit_binary_assert_text *text;
	const char *left_value;
	const char *right_value;
};
struct kunit_mem_assert {
	struct kunit_assert assert;
	const struct kunit_binary_assert_text *text;
	const void *left_value;
	const void *right_value;
	const size_t size;
};

extern void kunit_assert_prologue(const struct kunit_loc *loc, enum kunit_assert_type type,
				  struct string_stream *stream);
extern void kunit_fail_assert_format(const struct kunit_assert *assert, const struct va_format *message,
				struct string_stream *stream);
extern void kunit_unary_assert_format(const struct kunit_assert *assert, const struct va_format *message,
				struct string_stream *stream);
extern void kunit_ptr_not_err_assert_format(const struct kunit_assert *assert, const struct va_format *message,
				struct string_stream *stream);
extern void kunit_binary_assert_format(const struct kunit_assert *assert, const struct va_format *message,
				struct string_stream *stream);
extern void kunit_binary_ptr_assert_format(const struct kunit_assert *assert, const struct va_format *message,
				struct string_stream *stream);
extern void kunit_binary_str_assert_format(const struct kunit_assert *assert, const struct va_format *message,
				struct string_stream *stream);
extern void kunit_mem_assert_format(const struct kunit_assert *assert, const struct va_format *message,
				struct string_stream *stream);
extern void kunit_assert_print_msg(const struct va_format *message, struct string_stream *stream);
/* Two lines of bytes in base 16, with < and > around those that differ. */
extern void kunit_assert_hexdump(struct string_stream *stream, const void *buf, const void *compared_buf, const size_t len);
/* Whether the text in the source is the value itself, which then need not be told. */
extern bool is_literal(const char *text, long long value);
extern bool is_str_literal(const char *text, const char *value);

#endif
