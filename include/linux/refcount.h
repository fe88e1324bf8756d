/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Reference counts. */
#ifndef _LINUX_REFCOUNT_H
#define _LINUX_REFCOUNT_H

#include <linux/atomic.h>

typedef struct refcount_struct {
	atomic_t refs;
} refcount_t;

#define REFCOUNT_INIT(n) { .refs = ATOMIC_INIT(n) }

enum kapi_refcount_wrong {
	KAPI_REFCOUNT_ADD_OVERFLOW,
	KAPI_REFCOUNT_ADD_FROM_ZERO,
	KAPI_REFCOUNT_UNDERFLOW,
	KAPI_REFCOUNT_DEC_TO_ZERO
};
extern void kapi_refcount_wrong(refcount_t *r, enum kapi_refcount_wrong wrong);

static inline void refcount_set(refcount_t *r, int n) { atomic_set(&r->refs, n); }
static inline unsigned int refcount_read(const refcount_t *r) { return (unsigned int)atomic_read(&r->refs); }

static inline void refcount_add(int i, refcount_t *r)
{
	int old = atomic_fetch_add(i, &r->refs);

	if (old == 0)
		kapi_refcount_wrong(r, KAPI_REFCOUNT_ADD_FROM_ZERO);
	else if (old < 0 || old + i < 0)
		kapi_refcount_wrong(r, KAPI_REFCOUNT_ADD_OVERFLOW);
}
static inline void refcount_inc(refcount_t *r) { refcount_add(1, r); }

static inline bool refcount_add_not_zero(int i, refcount_t *r)
{
	return atomic_add_unless(&r->refs, i, 0);
}
static inline bool refcount_inc_not_zero(refcount_t *r) { return refcount_add_not_zero(1, r); }

static inline bool refcount_sub_and_test(int i, refcount_t *r)
{
	int old = atomic_fetch_sub(i, &r->refs);

	if (old == i)
		return true;
	if (old < i)
		kapi_refcount_wrong(r, KAPI_REFCOUNT_UNDERFLOW);
	return false;
}
static inline bool refcount_dec_and_test(refcount_t *r) { return refcount_sub_and_test(1, r); }

static inline void refcount_dec(refcount_t *r)
{
	if (atomic_fetch_sub(1, &r->refs) <= 1)
		kapi_refcount_wrong(r, KAPI_REFCOUNT_DEC_TO_ZERO);
}

static inline bool refcount_dec_if_one(refcount_t *r) { return atomic_cmpxchg(&r->refs, 1, 0) == 1; }
static inline bool refcount_dec_not_one(refcount_t *r) { return atomic_add_unless(&r->refs, -1, 1); }

/* Whoever drops the last one does so with a lock held, and keeps it. */
#define __KAPI_DEC_AND(r, take, give) ({ \
	refcount_t *__kapi_refs = (r); \
	bool __kapi_zero = false; \
	if (!refcount_dec_not_one(__kapi_refs)) { \
		take; \
		__kapi_zero = refcount_dec_and_test(__kapi_refs); \
		if (!__kapi_zero) \
			give; \
	} \
	__kapi_zero; })
#define refcount_dec_and_mutex_lock(r, lock) __KAPI_DEC_AND(r, mutex_lock(lock), mutex_unlock(lock))
#define refcount_dec_and_lock(r, lock) __KAPI_DEC_AND(r, spin_lock(lock), spin_unlock(lock))
/* The flags are set also where the lock is not taken, so that the compiler does not take them for unset. */
#define refcount_dec_and_lock_irqsave(r, lock, flags) ({ \
	*(flags) = 0; \
	__KAPI_DEC_AND(r, spin_lock_irqsave(lock, *(flags)), spin_unlock_irqrestore(lock, *(flags))); })

#endif
