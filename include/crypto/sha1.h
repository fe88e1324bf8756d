/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * SHA-1, and the code of a message with a key (HMAC) by it. A context is wiped when it is final.
 *
 * Linux counterpart: include/crypto/sha1.h @ 6.18.
 */
#ifndef _CRYPTO_SHA1_H
#define _CRYPTO_SHA1_H

#include <linux/compiler.h>
#include <linux/types.h>

#define SHA1_DIGEST_SIZE 20
#define SHA1_BLOCK_SIZE 64

struct sha1_block_state {
	u32 h[5];
};

struct sha1_ctx {
	struct sha1_block_state state;
	u64 bytecount;
	u8 buf[SHA1_BLOCK_SIZE] __aligned(8);
};

/* A key as it is needed: the states behind its inner and its outer block. */
struct hmac_sha1_key {
	struct sha1_block_state istate;
	struct sha1_block_state ostate;
};

struct hmac_sha1_ctx {
	struct sha1_ctx hash_ctx;
	struct sha1_block_state ostate;
};

extern void sha1_init(struct sha1_ctx *ctx);
extern void sha1_update(struct sha1_ctx *ctx, const u8 *data, size_t len);
extern void sha1_final(struct sha1_ctx *ctx, u8 *out);
extern void sha1(const u8 *data, size_t len, u8 *out);
extern void hmac_sha1_preparekey(struct hmac_sha1_key *key, const u8 *raw_key, size_t raw_key_len);
extern void hmac_sha1_init(struct hmac_sha1_ctx *ctx, const struct hmac_sha1_key *key);
extern void hmac_sha1_init_usingrawkey(struct hmac_sha1_ctx *ctx, const u8 *raw_key, size_t raw_key_len);
extern void hmac_sha1_update(struct hmac_sha1_ctx *ctx, const u8 *data, size_t data_len);
extern void hmac_sha1_final(struct hmac_sha1_ctx *ctx, u8 *out);
extern void hmac_sha1(const struct hmac_sha1_key *key, const u8 *data, size_t data_len, u8 *out);
extern void hmac_sha1_usingrawkey(const u8 *raw_key, size_t raw_key_len, const u8 *data, size_t data_len,
				 u8 *out);

#endif
