/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * SHA-224, SHA-256, SHA-384 and SHA-512, and the codes of a message with a key (HMAC) by them.
 *
 * A context is wiped when it is final.
 *
 * Linux counterpart: include/crypto/sha2.h @ 6.18.
 */
#ifndef _CRYPTO_SHA2_H
#define _CRYPTO_SHA2_H

#include <linux/compiler.h>
#include <linux/types.h>

#define SHA224_DIGEST_SIZE 28
#define SHA224_BLOCK_SIZE 64
#define SHA256_DIGEST_SIZE 32
#define SHA256_BLOCK_SIZE 64
#define SHA384_DIGEST_SIZE 48
#define SHA384_BLOCK_SIZE 128
#define SHA512_DIGEST_SIZE 64
#define SHA512_BLOCK_SIZE 128

struct sha256_block_state {
	u32 h[8];
};

struct __sha256_ctx {
	struct sha256_block_state state;
	u64 bytecount;
	u8 buf[SHA256_BLOCK_SIZE] __aligned(8);
};

struct __hmac_sha256_key {
	struct sha256_block_state istate;
	struct sha256_block_state ostate;
};

struct __hmac_sha256_ctx {
	struct __sha256_ctx sha_ctx;
	struct sha256_block_state ostate;
};

struct sha512_block_state {
	u64 h[8];
};

struct __sha512_ctx {
	struct sha512_block_state state;
	u64 bytecount_lo;
	u64 bytecount_hi;
	u8 buf[SHA512_BLOCK_SIZE] __aligned(8);
};

struct __hmac_sha512_key {
	struct sha512_block_state istate;
	struct sha512_block_state ostate;
};

struct __hmac_sha512_ctx {
	struct __sha512_ctx sha_ctx;
	struct sha512_block_state ostate;
};

struct sha224_ctx {
	struct __sha256_ctx ctx;
};

struct hmac_sha224_key {
	struct __hmac_sha256_key key;
};

struct hmac_sha224_ctx {
	struct __hmac_sha256_ctx ctx;
};

extern void sha224_init(struct sha224_ctx *ctx);
extern void sha224_update(struct sha224_ctx *ctx, const u8 *data, size_t len);
extern void sha224_final(struct sha224_ctx *ctx, u8 *out);
extern void sha224(const u8 *data, size_t len, u8 *out);
extern void hmac_sha224_preparekey(struct hmac_sha224_key *key, const u8 *raw_key, size_t raw_key_len);
extern void hmac_sha224_init(struct hmac_sha224_ctx *ctx, const struct hmac_sha224_key *key);
extern void hmac_sha224_init_usingrawkey(struct hmac_sha224_ctx *ctx, const u8 *raw_key, size_t raw_key_len);
extern void hmac_sha224_update(struct hmac_sha224_ctx *ctx, const u8 *data, size_t data_len);
extern void hmac_sha224_final(struct hmac_sha224_ctx *ctx, u8 *out);
extern void hmac_sha224(const struct hmac_sha224_key *key, const u8 *data, size_t data_len, u8 *out);
extern void hmac_sha224_usingrawkey(const u8 *raw_key, size_t raw_key_len, const u8 *data, size_t data_len,
				 u8 *out);

struct sha256_ctx {
	struct __sha256_ctx ctx;
};

struct hmac_sha256_key {
	struct __hmac_sha256_key key;
};

struct hmac_sha256_ctx {
	struct __hmac_sha256_ctx ctx;
};

extern void sha256_init(struct sha256_ctx *ctx);
extern void sha256_update(struct sha256_ctx *ctx, const u8 *data, size_t len);
extern void sha256_final(struct sha256_ctx *ctx, u8 *out);
extern void sha256(const u8 *data, size_t len, u8 *out);
extern void hmac_sha256_preparekey(struct hmac_sha256_key *key, const u8 *raw_key, size_t raw_key_len);
extern void hmac_sha256_init(struct hmac_sha256_ctx *ctx, const struct hmac_sha256_key *key);
extern void hmac_sha256_init_usingrawkey(struct hmac_sha256_ctx *ctx, const u8 *raw_key, size_t raw_key_len);
extern void hmac_sha256_update(struct hmac_sha256_ctx *ctx, const u8 *data, size_t data_len);
extern void hmac_sha256_final(struct hmac_sha256_ctx *ctx, u8 *out);
extern void hmac_sha256(const struct hmac_sha256_key *key, const u8 *data, size_t data_len, u8 *out);
extern void hmac_sha256_usingrawkey(const u8 *raw_key, size_t raw_key_len, const u8 *data, size_t data_len,
				 u8 *out);

struct sha384_ctx {
	struct __sha512_ctx ctx;
};

struct hmac_sha384_key {
	struct __hmac_sha512_key key;
};

struct hmac_sha384_ctx {
	struct __hmac_sha512_ctx ctx;
};

extern void sha384_init(struct sha384_ctx *ctx);
extern void sha384_update(struct sha384_ctx *ctx, const u8 *data, size_t len);
extern void sha384_final(struct sha384_ctx *ctx, u8 *out);
extern void sha384(const u8 *data, size_t len, u8 *out);
extern void hmac_sha384_preparekey(struct hmac_sha384_key *key, const u8 *raw_key, size_t raw_key_len);
extern void hmac_sha384_init(struct hmac_sha384_ctx *ctx, const struct hmac_sha384_key *key);
extern void hmac_sha384_init_usingrawkey(struct hmac_sha384_ctx *ctx, const u8 *raw_key, size_t raw_key_len);
extern void hmac_sha384_update(struct hmac_sha384_ctx *ctx, const u8 *data, size_t data_len);
extern void hmac_sha384_final(struct hmac_sha384_ctx *ctx, u8 *out);
extern void hmac_sha384(const struct hmac_sha384_key *key, const u8 *data, size_t data_len, u8 *out);
extern void hmac_sha384_usingrawkey(const u8 *raw_key, size_t raw_key_len, const u8 *data, size_t data_len,
				 u8 *out);

struct sha512_ctx {
	struct __sha512_ctx ctx;
};

struct hmac_sha512_key {
	struct __hmac_sha512_key key;
};

struct hmac_sha512_ctx {
	struct __hmac_sha512_ctx ctx;
};

extern void sha512_init(struct sha512_ctx *ctx);
extern void sha512_update(struct sha512_ctx *ctx, const u8 *data, size_t len);
extern void sha512_final(struct sha512_ctx *ctx, u8 *out);
extern void sha512(const u8 *data, size_t len, u8 *out);
extern void hmac_sha512_preparekey(struct hmac_sha512_key *key, const u8 *raw_key, size_t raw_key_len);
extern void hmac_sha512_init(struct hmac_sha512_ctx *ctx, const struct hmac_sha512_key *key);
extern void hmac_sha512_init_usingrawkey(struct hmac_sha512_ctx *ctx, const u8 *raw_key, size_t raw_key_len);
extern void hmac_sha512_update(struct hmac_sha512_ctx *ctx, const u8 *data, size_t data_len);
extern void hmac_sha512_final(struct hmac_sha512_ctx *ctx, u8 *out);
extern void hmac_sha512(const struct hmac_sha512_key *key, const u8 *data, size_t data_len, u8 *out);
extern void hmac_sha512_usingrawkey(const u8 *raw_key, size_t raw_key_len, const u8 *data, size_t data_len,
				 u8 *out);

/* The sums of two runs of one length, both behind what @ctx has, or alone if it is NULL; @ctx stays as it is. */
extern void sha256_finup_2x(const struct sha256_ctx *ctx, const u8 *data1, const u8 *data2, size_t len,
			    u8 *out1, u8 *out2);
/* Return: whether that is faster than one after the other: it is not. */
extern bool sha256_finup_2x_is_optimized(void);

#endif
