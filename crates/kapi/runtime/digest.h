/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Hashes by blocks: what they share, and the functions of each. */
#include <linux/stddef.h>
#include <linux/types.h>

/* A hash: its state, first in its context; where the rest of the context lies; and what a block does to the state. */
struct digest {
	size_t state_bytes, word_bytes, block_bytes, digest_bytes;
	size_t count_at, buffer_at, context_bytes;
	bool is_little;
	const void *start;
	void (*compress)(void *state, const u8 *block);
};

void kapi_digest_init(const struct digest *digest, void *context);
void kapi_digest_update(const struct digest *digest, void *context, const u8 *data, size_t len);
void kapi_digest_final(const struct digest *digest, void *context, u8 *out);
void kapi_hmac_prepare(const struct digest *digest, void *key, const u8 *raw, size_t len);
void kapi_hmac_init(const struct digest *digest, void *context, const void *key);
void kapi_hmac_final(const struct digest *digest, void *context, u8 *out);

/* The functions of a hash by the name @n. */
#define DIGEST_FUNCTIONS(n, digest) \
	void n##_init(struct n##_ctx *ctx) { kapi_digest_init(&digest, ctx); } \
	void n##_update(struct n##_ctx *ctx, const u8 *data, size_t len) { kapi_digest_update(&digest, ctx, data, len); } \
	void n##_final(struct n##_ctx *ctx, u8 *out) { kapi_digest_final(&digest, ctx, out); } \
	void n(const u8 *data, size_t len, u8 *out) \
	{ \
		struct n##_ctx ctx; \
		n##_init(&ctx); \
		n##_update(&ctx, data, len); \
		n##_final(&ctx, out); \
	} \
	void hmac_##n##_preparekey(struct hmac_##n##_key *key, const u8 *raw_key, size_t raw_key_len) \
	{ \
		kapi_hmac_prepare(&digest, key, raw_key, raw_key_len); \
	} \
	void hmac_##n##_init(struct hmac_##n##_ctx *ctx, const struct hmac_##n##_key *key) { kapi_hmac_init(&digest, ctx, key); } \
	void hmac_##n##_init_usingrawkey(struct hmac_##n##_ctx *ctx, const u8 *raw_key, size_t raw_key_len) \
	{ \
		struct hmac_##n##_key key; \
		hmac_##n##_preparekey(&key, raw_key, raw_key_len); \
		hmac_##n##_init(ctx, &key); \
	} \
	void hmac_##n##_update(struct hmac_##n##_ctx *ctx, const u8 *data, size_t data_len) \
	{ \
		kapi_digest_update(&digest, ctx, data, data_len); \
	} \
	void hmac_##n##_final(struct hmac_##n##_ctx *ctx, u8 *out) { kapi_hmac_final(&digest, ctx, out); } \
	void hmac_##n(const struct hmac_##n##_key *key, const u8 *data, size_t data_len, u8 *out) \
	{ \
		struct hmac_##n##_ctx ctx; \
		hmac_##n##_init(&ctx, key); \
		hmac_##n##_update(&ctx, data, data_len); \
		hmac_##n##_final(&ctx, out); \
	} \
	void hmac_##n##_usingrawkey(const u8 *raw_key, size_t raw_key_len, const u8 *data, size_t data_len, u8 *out) \
	{ \
		struct hmac_##n##_key key; \
		hmac_##n##_preparekey(&key, raw_key, raw_key_len); \
		hmac_##n(&key, data, data_len, out); \
	}
