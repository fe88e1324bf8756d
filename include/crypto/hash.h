/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Hashes by name: md5, sha1, sha224, sha256, sha384, sha512, crc32 and crc32c. Any other name is not found.
 *
 * Linux counterpart: include/crypto/hash.h @ 6.12, without hashes that end later (ahash).
 */
#ifndef _CRYPTO_HASH_H
#define _CRYPTO_HASH_H

#include <linux/crypto.h>
#include <linux/string.h>
#include <linux/types.h>
#include <linux/version.h>

#define HASH_MAX_DIGESTSIZE 64
#define HASH_MAX_DESCSIZE (sizeof(struct shash_desc) + 360)
#define HASH_MAX_STATESIZE 512

/* As large as the kernel's: 32 bytes, 40 from 6.2 to 6.19. */
struct crypto_shash {
#if LINUX_VERSION_CODE < KERNEL_VERSION(7, 0, 0)
	unsigned int descsize;
#endif
	struct crypto_tfm base;
};

/* A hash on its way. */
struct shash_desc {
	struct crypto_shash *tfm;
#if LINUX_VERSION_CODE < KERNEL_VERSION(5, 2, 0)
	u32 flags;
#endif
	void *__ctx[] __attribute__((__aligned__(ARCH_SLAB_MINALIGN)));
};

#define SHASH_DESC_ON_STACK(shash, ctx) \
	char __##shash##_desc[sizeof(struct shash_desc) + HASH_MAX_DESCSIZE] \
		__attribute__((__aligned__(__alignof__(struct shash_desc)))); \
	struct shash_desc *shash = (struct shash_desc *)__##shash##_desc
#define shash_desc_zero(desc) memzero_explicit(desc, sizeof(*(desc)) + crypto_shash_descsize((desc)->tfm))

/* Return: an ERR_PTR() of -ENOENT where there is no hash of the name. */
extern struct crypto_shash *crypto_alloc_shash(const char *alg_name, u32 type, u32 mask);
extern void crypto_free_shash(struct crypto_shash *tfm);
/* Return: 1 if there is a hash of the name, else 0. */
extern int crypto_has_shash(const char *alg_name, u32 type, u32 mask);
extern unsigned int crypto_shash_digestsize(struct crypto_shash *tfm);
/* A key is the start of crc32 and crc32c, of four bytes; others have none: -ENOSYS. */
extern int crypto_shash_setkey(struct crypto_shash *tfm, const u8 *key, unsigned int keylen);
extern int crypto_shash_init(struct shash_desc *desc);
extern int crypto_shash_update(struct shash_desc *desc, const u8 *data, unsigned int len);
extern int crypto_shash_final(struct shash_desc *desc, u8 *out);
extern int crypto_shash_finup(struct shash_desc *desc, const u8 *data, unsigned int len, u8 *out);
extern int crypto_shash_digest(struct shash_desc *desc, const u8 *data, unsigned int len, u8 *out);
extern int crypto_shash_tfm_digest(struct crypto_shash *tfm, const u8 *data, unsigned int len, u8 *out);
/* A hash on its way as bytes, of which there are crypto_shash_statesize(). */
extern int crypto_shash_export(struct shash_desc *desc, void *out);
extern int crypto_shash_import(struct shash_desc *desc, const void *in);

static inline struct crypto_tfm *crypto_shash_tfm(struct crypto_shash *tfm) { return &tfm->base; }
static inline void *crypto_shash_ctx(struct crypto_shash *tfm) { return crypto_tfm_ctx(&tfm->base); }
static inline void *shash_desc_ctx(struct shash_desc *desc) { return desc->__ctx; }
static inline unsigned int crypto_shash_descsize(struct crypto_shash *tfm)
{
	return tfm->base.__crt_alg->kapi_descsize;
}
static inline unsigned int crypto_shash_statesize(struct crypto_shash *tfm) { return crypto_shash_descsize(tfm); }
static inline unsigned int crypto_shash_blocksize(struct crypto_shash *tfm)
{
	return crypto_tfm_alg_blocksize(&tfm->base);
}
static inline const char *crypto_shash_alg_name(struct crypto_shash *tfm) { return crypto_tfm_alg_name(&tfm->base); }
static inline const char *crypto_shash_driver_name(struct crypto_shash *tfm)
{
	return crypto_tfm_alg_driver_name(&tfm->base);
}
static inline u32 crypto_shash_get_flags(struct crypto_shash *tfm) { return crypto_tfm_get_flags(&tfm->base); }
static inline void crypto_shash_set_flags(struct crypto_shash *tfm, u32 flags)
{
	crypto_tfm_set_flags(&tfm->base, flags);
}
static inline void crypto_shash_clear_flags(struct crypto_shash *tfm, u32 flags)
{
	crypto_tfm_clear_flags(&tfm->base, flags);
}

#endif
