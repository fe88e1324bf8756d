// SPDX-License-Identifier: MIT OR Apache-2.0
// Hashes by name, over those of the other files; ciphers, of which there is none.
#include "host.h"
#include <crypto/hash.h>
#include <crypto/md5.h>
#include <crypto/sha1.h>
#include <crypto/sha2.h>
#include <crypto/skcipher.h>
#include <linux/crc32.h>
#include <linux/err.h>
#include <linux/kernel.h>
#include <linux/unaligned.h>

/* A hash: what it is called, how large it is, and its steps. One without init begins with a number. */
struct hash {
	struct crypto_alg alg;
	unsigned int digest_bytes;
	u32 start;
	void (*init)(void *context);
	void (*update)(void *context, const u8 *data, size_t len);
	void (*final)(void *context, u8 *out);
};

#define STEPS(n) \
	static void n##_begin(void *context) { n##_init(context); } \
	static void n##_add(void *context, const u8 *data, size_t len) { n##_update(context, data, len); } \
	static void n##_end(void *context, u8 *out) { n##_final(context, out); }
STEPS(md5)
STEPS(sha1)
STEPS(sha224)
STEPS(sha256)
STEPS(sha384)
STEPS(sha512)

static void crc32_add(void *context, const u8 *data, size_t len) { *(u32 *)context = crc32_le(*(u32 *)context, data, len); }
static void crc32_end(void *context, u8 *out) { put_unaligned_le32(*(u32 *)context, out); }
static void crc32c_add(void *context, const u8 *data, size_t len) { *(u32 *)context = crc32c(*(u32 *)context, data, len); }
static void crc32c_end(void *context, u8 *out) { put_unaligned_le32(~*(u32 *)context, out); }

#define NAMED(n, block, context) { \
	.kapi_descsize = context, .cra_flags = CRYPTO_ALG_TYPE_SHASH, .cra_blocksize = block, \
	.cra_name = n, .cra_driver_name = n "-generic" }
#define BLOCKS(n, block, digest) { \
	.alg = NAMED(#n, block, sizeof(struct n##_ctx)), .digest_bytes = digest, \
	.init = n##_begin, .update = n##_add, .final = n##_end }
#define BITS(n, first) { \
	.alg = NAMED(#n, 1, sizeof(u32)), .digest_bytes = 4, .start = first, .update = n##_add, .final = n##_end }

static const struct hash hashes[] = {
	BLOCKS(md5, MD5_BLOCK_SIZE, MD5_DIGEST_SIZE),
	BLOCKS(sha1, SHA1_BLOCK_SIZE, SHA1_DIGEST_SIZE),
	BLOCKS(sha224, SHA224_BLOCK_SIZE, SHA224_DIGEST_SIZE),
	BLOCKS(sha256, SHA256_BLOCK_SIZE, SHA256_DIGEST_SIZE),
	BLOCKS(sha384, SHA384_BLOCK_SIZE, SHA384_DIGEST_SIZE),
	BLOCKS(sha512, SHA512_BLOCK_SIZE, SHA512_DIGEST_SIZE),
	BITS(crc32, 0),
	BITS(crc32c, ~0U),
};

static const struct hash *find(const char *name)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(hashes); i++)
		if (!strcmp(name, hashes[i].alg.cra_name) || !strcmp(name, hashes[i].alg.cra_driver_name))
			return &hashes[i];
	return NULL;
}

static const struct hash *hash_of(struct crypto_shash *tfm) { return container_of(tfm->base.__crt_alg, struct hash, alg); }

/* The start of one whose init has no step of its own lies behind the tfm. */
static unsigned int own_bytes(const struct hash *hash) { return hash->init ? 0 : sizeof(u32); }

struct crypto_shash *crypto_alloc_shash(const char *alg_name, u32 type, u32 mask)
{
	const struct hash *hash = find(alg_name);
	struct crypto_shash *tfm;

	might_sleep();
	if (!hash)
		return ERR_PTR(-ENOENT);
	tfm = kapi_kmalloc_for(sizeof(*tfm) + own_bytes(hash), GFP_KERNEL | __GFP_ZERO, _RET_IP_);
	if (!tfm)
		return ERR_PTR(-ENOMEM);
	tfm->base.__crt_alg = &hash->alg;
	tfm->base.node = NUMA_NO_NODE;
	if (!hash->init)
		*(u32 *)crypto_shash_ctx(tfm) = hash->start;
	return tfm;
}

void crypto_free_shash(struct crypto_shash *tfm)
{
	if (!IS_ERR_OR_NULL(tfm))
		kapi_kfree_for(tfm, _RET_IP_);
}

int crypto_has_shash(const char *alg_name, u32 type, u32 mask) { return find(alg_name) ? 1 : 0; }
unsigned int crypto_shash_digestsize(struct crypto_shash *tfm) { return hash_of(tfm)->digest_bytes; }

int crypto_shash_setkey(struct crypto_shash *tfm, const u8 *key, unsigned int keylen)
{
	if (hash_of(tfm)->init)
		return -ENOSYS;
	if (keylen != sizeof(u32))
		return -EINVAL;
	*(u32 *)crypto_shash_ctx(tfm) = get_unaligned_le32(key);
	return 0;
}

int crypto_shash_init(struct shash_desc *desc)
{
	const struct hash *hash = hash_of(desc->tfm);

	if (hash->init)
		hash->init(desc->__ctx);
	else
		*(u32 *)desc->__ctx = *(u32 *)crypto_shash_ctx(desc->tfm);
	return 0;
}

int crypto_shash_update(struct shash_desc *desc, const u8 *data, unsigned int len)
{
	hash_of(desc->tfm)->update(desc->__ctx, data, len);
	return 0;
}

int crypto_shash_final(struct shash_desc *desc, u8 *out)
{
	hash_of(desc->tfm)->final(desc->__ctx, out);
	return 0;
}

int crypto_shash_finup(struct shash_desc *desc, const u8 *data, unsigned int len, u8 *out)
{
	return crypto_shash_update(desc, data, len) ?: crypto_shash_final(desc, out);
}

int crypto_shash_digest(struct shash_desc *desc, const u8 *data, unsigned int len, u8 *out)
{
	return crypto_shash_init(desc) ?: crypto_shash_finup(desc, data, len, out);
}

int crypto_shash_tfm_digest(struct crypto_shash *tfm, const u8 *data, unsigned int len, u8 *out)
{
	SHASH_DESC_ON_STACK(desc, tfm);
	int error;

	desc->tfm = tfm;
	error = crypto_shash_digest(desc, data, len, out);
	shash_desc_zero(desc);
	return error;
}

int crypto_shash_export(struct shash_desc *desc, void *out)
{
	memcpy(out, desc->__ctx, crypto_shash_descsize(desc->tfm));
	return 0;
}

int crypto_shash_import(struct shash_desc *desc, const void *in)
{
	memcpy(desc->__ctx, in, crypto_shash_descsize(desc->tfm));
	return 0;
}

struct crypto_skcipher *crypto_alloc_skcipher(const char *alg_name, u32 type, u32 mask)
{
	might_sleep();
	return ERR_PTR(-ENOENT);
}

/* As there is no cipher, nobody has one: what is called with one here is called with what is none. */
void crypto_free_skcipher(struct crypto_skcipher *tfm) { WARN_ON(!IS_ERR_OR_NULL(tfm)); }
int crypto_has_skcipher(const char *alg_name, u32 type, u32 mask) { return 0; }
unsigned int crypto_skcipher_ivsize(struct crypto_skcipher *tfm) { return 0; }
int crypto_skcipher_setkey(struct crypto_skcipher *tfm, const u8 *key, unsigned int keylen) { return -ENOSYS; }
int crypto_skcipher_encrypt(struct skcipher_request *req) { return -ENOSYS; }
int crypto_skcipher_decrypt(struct skcipher_request *req) { return -ENOSYS; }

/* A request that was put off has only begun: it ends later. */
static void wake(struct crypto_wait *wait, int err)
{
	if (err == -EINPROGRESS)
		return;
	wait->err = err;
	complete(&wait->completion);
}

#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 3, 0)
void crypto_req_done(void *data, int err) { wake(data, err); }
#else
void crypto_req_done(struct crypto_async_request *req, int err) { wake(req->data, err); }
#endif
