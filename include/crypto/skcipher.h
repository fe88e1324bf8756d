/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Ciphers by name, of which there are none: what asks for one is told so, as by a kernel that lacks it.
 *
 * Linux counterpart: include/crypto/skcipher.h @ 6.12.
 */
#ifndef _CRYPTO_SKCIPHER_H
#define _CRYPTO_SKCIPHER_H

#include <linux/crypto.h>
#include <linux/scatterlist.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/types.h>

struct crypto_skcipher {
	unsigned int reqsize;
	struct crypto_tfm base;
};

struct skcipher_request {
	unsigned int cryptlen;
	u8 *iv;
	struct scatterlist *src, *dst;
	struct crypto_async_request base;
	void *__ctx[] CRYPTO_MINALIGN_ATTR;
};

/* Return: an ERR_PTR() of -ENOENT. */
extern struct crypto_skcipher *crypto_alloc_skcipher(const char *alg_name, u32 type, u32 mask);
extern void crypto_free_skcipher(struct crypto_skcipher *tfm);
/* Return: 1 if there is a cipher of the name, else 0. */
extern int crypto_has_skcipher(const char *alg_name, u32 type, u32 mask);
extern unsigned int crypto_skcipher_ivsize(struct crypto_skcipher *tfm);
extern int crypto_skcipher_setkey(struct crypto_skcipher *tfm, const u8 *key, unsigned int keylen);
extern int crypto_skcipher_encrypt(struct skcipher_request *req);
extern int crypto_skcipher_decrypt(struct skcipher_request *req);

static inline struct crypto_tfm *crypto_skcipher_tfm(struct crypto_skcipher *tfm) { return &tfm->base; }
static inline unsigned int crypto_skcipher_reqsize(struct crypto_skcipher *tfm) { return tfm->reqsize; }
static inline unsigned int crypto_skcipher_blocksize(struct crypto_skcipher *tfm)
{
	return crypto_tfm_alg_blocksize(&tfm->base);
}
static inline u32 crypto_skcipher_get_flags(struct crypto_skcipher *tfm) { return crypto_tfm_get_flags(&tfm->base); }
static inline void crypto_skcipher_set_flags(struct crypto_skcipher *tfm, u32 flags)
{
	crypto_tfm_set_flags(&tfm->base, flags);
}
static inline void crypto_skcipher_clear_flags(struct crypto_skcipher *tfm, u32 flags)
{
	crypto_tfm_clear_flags(&tfm->base, flags);
}

static inline void skcipher_request_set_tfm(struct skcipher_request *req, struct crypto_skcipher *tfm)
{
	req->base.tfm = &tfm->base;
}
static inline struct crypto_skcipher *crypto_skcipher_reqtfm(struct skcipher_request *req)
{
	return container_of(req->base.tfm, struct crypto_skcipher, base);
}

static inline struct skcipher_request *skcipher_request_alloc(struct crypto_skcipher *tfm, gfp_t gfp)
{
	struct skcipher_request *req = kmalloc(sizeof(*req) + crypto_skcipher_reqsize(tfm), gfp);

	if (req)
		skcipher_request_set_tfm(req, tfm);
	return req;
}

static inline void skcipher_request_free(struct skcipher_request *req) { kfree_sensitive(req); }

static inline void skcipher_request_set_callback(struct skcipher_request *req, u32 flags, crypto_completion_t compl,
						 void *data)
{
	req->base.complete = compl;
	req->base.data = data;
	req->base.flags = flags;
}

static inline void skcipher_request_set_crypt(struct skcipher_request *req, struct scatterlist *src,
					      struct scatterlist *dst, unsigned int cryptlen, void *iv)
{
	req->src = src;
	req->dst = dst;
	req->cryptlen = cryptlen;
	req->iv = iv;
}

#endif
