/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * What hashes and ciphers share: an algorithm, what was made of it, and requests that end later.
 *
 * Linux counterpart: include/linux/crypto.h @ 6.12. Difference: modules cannot register algorithms.
 */
#ifndef _LINUX_CRYPTO_H
#define _LINUX_CRYPTO_H

#include <linux/completion.h>
#include <linux/errno.h>
#include <linux/list.h>
#include <linux/refcount.h>
#include <linux/slab.h>
#include <linux/types.h>
#include <linux/version.h>

#define CRYPTO_ALG_TYPE_MASK 0x0000000f
#define CRYPTO_ALG_TYPE_CIPHER 0x00000001
#define CRYPTO_ALG_TYPE_SKCIPHER 0x00000005
#define CRYPTO_ALG_TYPE_SHASH 0x0000000e
#define CRYPTO_ALG_TYPE_AHASH 0x0000000f
#define CRYPTO_ALG_ASYNC 0x00000080
#define CRYPTO_ALG_NEED_FALLBACK 0x00000100
#define CRYPTO_ALG_INTERNAL 0x00002000

#define CRYPTO_TFM_NEED_KEY 0x00000001
#define CRYPTO_TFM_REQ_MASK 0x000fff00
#define CRYPTO_TFM_REQ_FORBID_WEAK_KEYS 0x00000100
#define CRYPTO_TFM_REQ_MAY_SLEEP 0x00000200
#define CRYPTO_TFM_REQ_MAY_BACKLOG 0x00000400

#define CRYPTO_MAX_ALG_NAME (LINUX_VERSION_CODE < KERNEL_VERSION(4, 12, 0) ? 64 : 128)
#define CRYPTO_MINALIGN ARCH_KMALLOC_MINALIGN
#define CRYPTO_MINALIGN_ATTR __attribute__((__aligned__(CRYPTO_MINALIGN)))

struct crypto_alg {
	u32 cra_flags;
	unsigned int cra_blocksize;
	unsigned int cra_ctxsize;
	unsigned int kapi_descsize;
	const char *cra_name;
	const char *cra_driver_name;
};

struct crypto_tfm {
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 2, 0)
	refcount_t refcnt;
#endif
	u32 crt_flags;
	int node;
	void (*exit)(struct crypto_tfm *tfm);
	const struct crypto_alg *__crt_alg;
	void *__crt_ctx[] CRYPTO_MINALIGN_ATTR;
};

static inline const char *crypto_tfm_alg_name(struct crypto_tfm *tfm) { return tfm->__crt_alg->cra_name; }
static inline const char *crypto_tfm_alg_driver_name(struct crypto_tfm *tfm) { return tfm->__crt_alg->cra_driver_name; }
static inline unsigned int crypto_tfm_alg_blocksize(struct crypto_tfm *tfm) { return tfm->__crt_alg->cra_blocksize; }
static inline u32 crypto_tfm_get_flags(struct crypto_tfm *tfm) { return tfm->crt_flags; }
static inline void crypto_tfm_set_flags(struct crypto_tfm *tfm, u32 flags) { tfm->crt_flags |= flags; }
static inline void crypto_tfm_clear_flags(struct crypto_tfm *tfm, u32 flags) { tfm->crt_flags &= ~flags; }
static inline void *crypto_tfm_ctx(struct crypto_tfm *tfm) { return tfm->__crt_ctx; }

/* Since 6.3 who waits is told its own pointer, before the request. */
struct crypto_async_request;
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 3, 0)
typedef void (*crypto_completion_t)(void *data, int err);
extern void crypto_req_done(void *data, int err);
#else
typedef void (*crypto_completion_t)(struct crypto_async_request *req, int err);
extern void crypto_req_done(struct crypto_async_request *req, int err);
#endif

struct crypto_async_request {
	struct list_head list;
	crypto_completion_t complete;
	void *data;
	struct crypto_tfm *tfm;
	u32 flags;
};

/* Waits for a request that was begun. */
struct crypto_wait {
	struct completion completion;
	int err;
};
#define DECLARE_CRYPTO_WAIT(wait) \
	struct crypto_wait wait = { COMPLETION_INITIALIZER((wait).completion), 0 }
static inline void crypto_init_wait(struct crypto_wait *wait) { init_completion(&wait->completion); }

/* Return: the result of a request, after it has ended. */
static inline int crypto_wait_req(int err, struct crypto_wait *wait)
{
	if (err != -EINPROGRESS && err != -EBUSY)
		return err;
	wait_for_completion(&wait->completion);
	reinit_completion(&wait->completion);
	return wait->err;
}

#endif
