// SPDX-License-Identifier: MIT OR Apache-2.0
// Texts that grow by pieces.
#include "host.h"
#include "string_stream.h"
#include <kunit/static_stub.h>
#include <kunit/test.h>
#include <linux/kernel.h>
#include <linux/slab.h>

struct piece {
	struct list_head node;
	char *text;
};

void string_stream_destroy(struct string_stream *stream);

struct string_stream *alloc_string_stream(gfp_t gfp)
{
	struct string_stream *stream = kzalloc(sizeof(*stream), gfp);

	if (!stream)
		return ERR_PTR(-ENOMEM);
	stream->gfp = gfp;
	INIT_LIST_HEAD(&stream->fragments);
	spin_lock_init(&stream->lock);
	return stream;
}

int string_stream_vadd(struct string_stream *stream, const char *fmt, va_list args)
{
	struct piece *piece;
	va_list again;
	size_t len, end;

	va_copy(again, args);
	len = (size_t)vsnprintf(NULL, 0, fmt, again);
	va_end(again);
	if (!len)
		return 0;
	piece = kmalloc(sizeof(*piece), stream->gfp);
	if (!piece)
		return -ENOMEM;
	piece->text = kmalloc(len + 2, stream->gfp);
	if (!piece->text) {
		kfree(piece);
		return -ENOMEM;
	}
	end = len;
	vsnprintf(piece->text, len + 1, fmt, args);
	if (stream->append_newlines && piece->text[len - 1] != '\n') {
		piece->text[end++] = '\n';
		piece->text[end] = 0;
	}
	spin_lock(&stream->lock);
	stream->length += end;
	list_add_tail(&piece->node, &stream->fragments);
	spin_unlock(&stream->lock);
	return 0;
}

int string_stream_add(struct string_stream *stream, const char *fmt, ...)
{
	return WITH_ARGS(fmt, string_stream_vadd(stream, fmt, args));
}

void string_stream_clear(struct string_stream *stream)
{
	struct piece *piece, *next;

	spin_lock(&stream->lock);
	list_for_each_entry_safe(piece, next, &stream->fragments, node) {
		list_del(&piece->node);
		kfree(piece->text);
		kfree(piece);
	}
	stream->length = 0;
	spin_unlock(&stream->lock);
}

char *string_stream_get_string(struct string_stream *stream)
{
	struct piece *piece;
	char *text = kzalloc(stream->length + 1, stream->gfp), *end = text;

	if (!text)
		return ERR_PTR(-ENOMEM);
	spin_lock(&stream->lock);
	list_for_each_entry(piece, &stream->fragments, node) {
		strcpy(end, piece->text);
		end += strlen(end);
	}
	spin_unlock(&stream->lock);
	return text;
}

int string_stream_append(struct string_stream *stream, struct string_stream *other)
{
	char *text = string_stream_get_string(other);
	int error;

	if (IS_ERR(text))
		return PTR_ERR(text);
	error = string_stream_add(stream, "%s", text);
	kfree(text);
	return error;
}

bool string_stream_is_empty(struct string_stream *stream) { return list_empty(&stream->fragments); }

void string_stream_destroy(struct string_stream *stream)
{
	KUNIT_STATIC_STUB_REDIRECT(string_stream_destroy, stream);
	if (IS_ERR_OR_NULL(stream))
		return;
	string_stream_clear(stream);
	kfree(stream);
}

KUNIT_DEFINE_ACTION_WRAPPER(destroy, string_stream_destroy, struct string_stream *)

struct string_stream *kunit_alloc_string_stream(struct kunit *test, gfp_t gfp)
{
	struct string_stream *stream = alloc_string_stream(gfp);
	int error;

	if (IS_ERR(stream))
		return stream;
	error = kunit_add_action_or_reset(test, destroy, stream);
	return error ? ERR_PTR(error) : stream;
}

void kunit_free_string_stream(struct kunit *test, struct string_stream *stream)
{
	kunit_release_action(test, destroy, stream);
}
