// SPDX-License-Identifier: MIT OR Apache-2.0
// Hashes by blocks, and the code of a message with a key by them (RFC 2104).
#include "digest.h"
#include <linux/bug.h>
#include <linux/minmax.h>
#include <linux/string.h>

#define BLOCK_MAX 128

void kapi_digest_init(const struct digest *digest, void *context)
{
	memset(context, 0, digest->context_bytes);
	memcpy(context, digest->start, digest->state_bytes);
}

/* The count of bytes has twice the words where blocks are twice as long. */
void kapi_digest_update(const struct digest *digest, void *context, const u8 *data, size_t len)
{
	u64 *count = context + digest->count_at;
	u8 *buffer = context + digest->buffer_at;
	size_t filled = *count % digest->block_bytes, n;

	*count += len;
	if (digest->block_bytes == BLOCK_MAX && *count < len)
		count[1]++;
	for (; len; data += n, len -= n) {
		n = min(len, digest->block_bytes - filled);
		if (n == digest->block_bytes) {
			digest->compress(context, data);
			continue;
		}
		memcpy(buffer + filled, data, n);
		filled = (filled + n) % digest->block_bytes;
		if (!filled)
			digest->compress(context, buffer);
	}
}

/* Bytes of a number, the highest first or last. */
static void put(u8 *out, u64 value, size_t bytes, bool is_little)
{
	size_t i;

	for (i = 0; i < bytes; i++)
		out[i] = (u8)(value >> 8 * (is_little ? i : bytes - 1 - i));
}

void kapi_digest_final(const struct digest *digest, void *context, u8 *out)
{
	const u64 *count = context + digest->count_at;
	u64 bits = *count << 3, high = *count >> 61;
	size_t block = digest->block_bytes, tail = block / 8, filled = *count % block, at;
	u8 padding[2 * BLOCK_MAX] = { 0x80 }, sum[64], *end;
	size_t len = (filled < block - tail ? block : 2 * block) - filled;

	end = padding + len - tail;
	if (block == BLOCK_MAX)
		put(end, high | count[1] << 3, 8, false);
	put(end + tail - 8, bits, 8, digest->is_little);
	kapi_digest_update(digest, context, padding, len);
	for (at = 0; at < digest->state_bytes; at += digest->word_bytes) {
		const void *word = context + at;

		put(sum + at, digest->word_bytes == 8 ? *(const u64 *)word : *(const u32 *)word, digest->word_bytes,
		    digest->is_little);
	}
	memcpy(out, sum, digest->digest_bytes);
	memset(context, 0, digest->context_bytes);
}

/* The state behind one block of the key, with a byte over each of its own. */
static void key_state(const struct digest *digest, void *state, const u8 *block, u8 over)
{
	u8 padded[BLOCK_MAX];
	size_t i;

	for (i = 0; i < digest->block_bytes; i++)
		padded[i] = block[i] ^ over;
	memcpy(state, digest->start, digest->state_bytes);
	digest->compress(state, padded);
}

void kapi_hmac_prepare(const struct digest *digest, void *key, const u8 *raw, size_t len)
{
	u8 block[BLOCK_MAX] = { 0 };
	u64 context[32];

	BUILD_BUG_ON(sizeof(context) < BLOCK_MAX + 64 + 16);
	if (len > digest->block_bytes) {
		kapi_digest_init(digest, context);
		kapi_digest_update(digest, context, raw, len);
		kapi_digest_final(digest, context, block);
	} else {
		memcpy(block, raw, len);
	}
	key_state(digest, key, block, 0x36);
	key_state(digest, key + digest->state_bytes, block, 0x5c);
}

/* A context that has seen one block, with this state behind it. */
static void begin_behind(const struct digest *digest, void *context, const void *state)
{
	kapi_digest_init(digest, context);
	memcpy(context, state, digest->state_bytes);
	*(u64 *)(context + digest->count_at) = digest->block_bytes;
}

void kapi_hmac_init(const struct digest *digest, void *context, const void *key)
{
	begin_behind(digest, context, key);
	memcpy(context + digest->context_bytes, key + digest->state_bytes, digest->state_bytes);
}

void kapi_hmac_final(const struct digest *digest, void *context, u8 *out)
{
	u8 inner[64];

	kapi_digest_final(digest, context, inner);
	begin_behind(digest, context, context + digest->context_bytes);
	kapi_digest_update(digest, context, inner, digest->digest_bytes);
	kapi_digest_final(digest, context, out);
	memset(context + digest->context_bytes, 0, digest->state_bytes);
}
