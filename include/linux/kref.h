/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Counted references that release their object. */
#ifndef _LINUX_KREF_H
#define _LINUX_KREF_H

#include <linux/refcount.h>

struct kref {
	refcount_t refcount;
};

#define KREF_INIT(n) { .refcount = REFCOUNT_INIT(n) }

/* Host: what happens to one, for check level 2. The runtime's own are not told. */
enum kapi_kref {
	KAPI_KREF_INIT,
	KAPI_KREF_GET,
	KAPI_KREF_LAST
};
#ifdef KAPI_RUNTIME
static inline void kapi_kref(const struct kref *kref, unsigned int what) { }
#else
extern void kapi_kref(const struct kref *kref, unsigned int what);
#endif

static inline void kref_init(struct kref *kref)
{
	refcount_set(&kref->refcount, 1);
	kapi_kref(kref, KAPI_KREF_INIT);
}

static inline void kref_get(struct kref *kref)
{
	refcount_inc(&kref->refcount);
	kapi_kref(kref, KAPI_KREF_GET);
}

static inline unsigned int kref_read(const struct kref *kref) { return refcount_read(&kref->refcount); }

static inline int kref_put(struct kref *kref, void (*release)(struct kref *kref))
{
	if (!refcount_dec_and_test(&kref->refcount))
		return 0;
	kapi_kref(kref, KAPI_KREF_LAST);
	release(kref);
	return 1;
}

static inline int kref_get_unless_zero(struct kref *kref)
{
	if (!refcount_inc_not_zero(&kref->refcount))
		return 0;
	kapi_kref(kref, KAPI_KREF_GET);
	return 1;
}

/* The release function gives the lock back. */
#define __KAPI_KREF_PUT(ref, gone, how, lock) ({ \
	struct kref *__kapi_ref = (ref); \
	int __kapi_last = how(&__kapi_ref->refcount, lock); \
	if (__kapi_last) { \
		kapi_kref(__kapi_ref, KAPI_KREF_LAST); \
		(gone)(__kapi_ref); \
	} \
	__kapi_last; })
#define kref_put_mutex(kref, release, lock) __KAPI_KREF_PUT(kref, release, refcount_dec_and_mutex_lock, lock)
#define kref_put_lock(kref, release, lock) __KAPI_KREF_PUT(kref, release, refcount_dec_and_lock, lock)

#endif
