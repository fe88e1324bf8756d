// SPDX-License-Identifier: MIT OR Apache-2.0
// A failed expectation in words.
#include "host.h"
#include "string_stream.h"
#include <kunit/assert.h>
#include <linux/kernel.h>
#include <linux/string.h>

/* Of the record around @assert. */
#define OF(type, assert) container_of(assert, const struct kunit_##type##_assert, assert)
#define INDENT "    "

void kunit_assert_prologue(const struct kunit_loc *loc, enum kunit_assert_type type, struct string_stream *stream)
{
	string_stream_add(stream, "%s FAILED at %s:%d\n", type == KUNIT_ASSERTION ? "ASSERTION" : "EXPECTATION", loc->file,
			  loc->line);
}

void kunit_assert_print_msg(const struct va_format *message, struct string_stream *stream)
{
	if (message->fmt)
		string_stream_add(stream, "\n%pV", message);
}

void kunit_fail_assert_format(const struct kunit_assert *assert, const struct va_format *message,
			      struct string_stream *stream)
{
	string_stream_add(stream, "%pV", message);
}

void kunit_unary_assert_format(const struct kunit_assert *assert, const struct va_format *message,
			       struct string_stream *stream)
{
	const struct kunit_unary_assert *unary = OF(unary, assert);

	string_stream_add(stream, INDENT "Expected %s to be %s, but is %s\n", unary->condition,
			  unary->expected_true ? "true" : "false", unary->expected_true ? "false" : "true");
	kunit_assert_print_msg(message, stream);
}

void kunit_ptr_not_err_assert_format(const struct kunit_assert *assert, const struct va_format *message,
				     struct string_stream *stream)
{
	const struct kunit_ptr_not_err_assert *pointer = OF(ptr_not_err, assert);

	if (!pointer->value)
		string_stream_add(stream, INDENT "Expected %s is not null, but is\n", pointer->text);
	else if (IS_ERR(pointer->value))
		string_stream_add(stream, INDENT "Expected %s is not error, but is: %ld\n", pointer->text,
				  PTR_ERR(pointer->value));
	kunit_assert_print_msg(message, stream);
}

bool is_literal(const char *text, long long value)
{
	char own[24];

	scnprintf(own, sizeof(own), "%lld", value);
	return !strcmp(text, own);
}

bool is_str_literal(const char *text, const char *value)
{
	size_t len = strlen(text);

	return len >= 2 && text[0] == '"' && text[len - 1] == '"' && strlen(value) == len - 2 &&
	       !strncmp(text + 1, value, len - 2);
}

static void expected(const struct kunit_binary_assert_text *text, struct string_stream *stream)
{
	string_stream_add(stream, INDENT "Expected %s %s %s, but\n", text->left_text, text->operation, text->right_text);
}

void kunit_binary_assert_format(const struct kunit_assert *assert, const struct va_format *message,
				struct string_stream *stream)
{
	const struct kunit_binary_assert *two = OF(binary, assert);

	expected(two->text, stream);
	if (!is_literal(two->text->left_text, two->left_value))
		string_stream_add(stream, INDENT INDENT "%s == %lld (0x%llx)\n", two->text->left_text, two->left_value,
				  two->left_value);
	if (!is_literal(two->text->right_text, two->right_value))
		string_stream_add(stream, INDENT INDENT "%s == %lld (0x%llx)", two->text->right_text, two->right_value,
				  two->right_value);
	kunit_assert_print_msg(message, stream);
}

void kunit_binary_ptr_assert_format(const struct kunit_assert *assert, const struct va_format *message,
				    struct string_stream *stream)
{
	const struct kunit_binary_ptr_assert *two = OF(binary_ptr, assert);

	expected(two->text, stream);
	string_stream_add(stream, INDENT INDENT "%s == %px\n" INDENT INDENT "%s == %px", two->text->left_text,
			  two->left_value, two->text->right_text, two->right_value);
	kunit_assert_print_msg(message, stream);
}

void kunit_binary_str_assert_format(const struct kunit_assert *assert, const struct va_format *message,
				    struct string_stream *stream)
{
	const struct kunit_binary_str_assert *two = OF(binary_str, assert);

	expected(two->text, stream);
	if (!is_str_literal(two->text->left_text, two->left_value))
		string_stream_add(stream, INDENT INDENT "%s == \"%s\"\n", two->text->left_text, two->left_value);
	if (!is_str_literal(two->text->right_text, two->right_value))
		string_stream_add(stream, INDENT INDENT "%s == \"%s\"", two->text->right_text, two->right_value);
	kunit_assert_print_msg(message, stream);
}

void kunit_assert_hexdump(struct string_stream *stream, const void *buf, const void *compared_buf, const size_t len)
{
	const u8 *own = buf, *other = compared_buf;
	size_t i;

	for (i = 0; i < len; i++) {
		if (i % 16 == 0)
			string_stream_add(stream, i ? "\n" INDENT INDENT : INDENT INDENT);
		string_stream_add(stream, own[i] == other[i] ? " %02x " : "<%02x>", own[i]);
	}
}

void kunit_mem_assert_format(const struct kunit_assert *assert, const struct va_format *message,
			     struct string_stream *stream)
{
	const struct kunit_mem_assert *two = OF(mem, assert);
	const char *null = two->left_value ? two->right_value ? NULL : two->text->right_text : two->text->left_text;

	if (null) {
		string_stream_add(stream, INDENT "Expected %s is not null, but is\n", null);
	} else {
		expected(two->text, stream);
		string_stream_add(stream, INDENT INDENT "%s ==\n", two->text->left_text);
		kunit_assert_hexdump(stream, two->left_value, two->right_value, two->size);
		string_stream_add(stream, "\n" INDENT INDENT "%s ==\n", two->text->right_text);
		kunit_assert_hexdump(stream, two->right_value, two->left_value, two->size);
	}
	kunit_assert_print_msg(message, stream);
}
