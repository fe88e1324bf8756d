/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * MD5, and the code of a message with a key (HMAC) by it. A context is wiped when it is final.
 *
 * Linux counterpart: include/crypto/md5.h @ 6.18.
 */
#ifndef _CRYPTO_MD5_H
#define _CRYPTO_MD5_H

#include <linux/compiler.h>
#include <linux/types.h>

#define MD5_DIGEST_SIZE 16
#define MD5_BLOCK_SIZE 64

struct md5_block_state {
	u32 h[4];
};

struct md5_ctx {
	struct md5_block_state state;
	u64 bytecount;
	u8 buf[MD5_BLOCK_SIZE] __aligned(8);
};

/* A key as it is needed: the states behind its inner and its outer block. */
struct hmac_md5_key {
	struct md5_block_state istate;
	struct md5_block_state ostate;
};

struct hmac_md5_ctx {
	struct md5_ctx hash_ctx;
	struct md5_block_state ostate;
};

extern void md5_init(struct md5_ctx *ctx);
extern void md5_update(struct md5_ctx *ctx, const u8 *data, size_t len);
extern void md5_final(struct md5_ctx *ctx, u8 *out);
extern void md5(const u8 *data, size_t len, u8 *out);
extern void hmac_md5_preparekey(struct hmac_md5_key *key, const u8 *raw_key, size_t raw_key_len);
extern void hmac_md5_init(struct hmac_md5_ctx *ctx, const struct hmac_md5_key *key);
extern void hmac_md5_init_usingrawkey(struct hmac_md5_ctx *ctx, const u8 *raw_key, size_t raw_key_len);
extern void hmac_md5_update(struct hmac_md5_ctx *ctx, const u8 *data, size_t data_len);
extern void hmac_md5_final(struct hmac_md5_ctx *ctx, u8 *out);
extern void hmac_md5(const struct hmac_md5_key *key, const u8 *data, size_t data_len, u8 *out);
extern void hmac_md5_usingrawkey(const u8 *raw_key, size_t raw_key_len, const u8 *data, size_t data_len,
				 u8 *out);

#endif
