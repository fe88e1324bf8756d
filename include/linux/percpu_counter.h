/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Counters that are mostly added to: each CPU has a part, and brings it to the sum when it is large. */
#ifndef _LINUX_PERCPU_COUNTER_H
#define _LINUX_PERCPU_COUNTER_H

#include <linux/percpu.h>
#include <linux/spinlock.h>
#include <linux/types.h>
#include <linux/version.h>
#include <kapi/bytes.h>

struct percpu_counter {
	raw_spinlock_t lock;
	s64 count;
	s32 *counters;
	void *kapi_rest[2];
};
KAPI_IS_LARGE(struct percpu_counter, KAPI_PERCPU_COUNTER_BYTES);

/* max(32, 2 * CPUs) */
extern int percpu_counter_batch;
extern int percpu_counter_init_many(struct percpu_counter *fbc, s64 amount, gfp_t gfp, u32 nr);
extern void percpu_counter_destroy_many(struct percpu_counter *fbc, u32 nr);
extern int kapi_percpu_counter_init(struct percpu_counter *fbc, s64 amount, gfp_t gfp);
extern void percpu_counter_set(struct percpu_counter *fbc, s64 amount);
extern void percpu_counter_add_batch(struct percpu_counter *fbc, s64 amount, s32 batch);
extern s64 __percpu_counter_sum(struct percpu_counter *fbc);
extern int __percpu_counter_compare(struct percpu_counter *fbc, s64 value, s32 batch);
extern bool percpu_counter_limited_add(struct percpu_counter *fbc, s64 limit, s64 amount);
extern void percpu_counter_sync(struct percpu_counter *fbc);
#define percpu_counter_init(fbc, amount, gfp) kapi_percpu_counter_init(fbc, amount, gfp)

static inline void percpu_counter_destroy(struct percpu_counter *fbc) { percpu_counter_destroy_many(fbc, 1); }
static inline void percpu_counter_add(struct percpu_counter *fbc, s64 amount)
{
	percpu_counter_add_batch(fbc, amount, percpu_counter_batch);
}
static inline void percpu_counter_add_local(struct percpu_counter *fbc, s64 amount)
{
	percpu_counter_add_batch(fbc, amount, S32_MAX);
}
static inline void percpu_counter_sub(struct percpu_counter *fbc, s64 amount) { percpu_counter_add(fbc, -amount); }
static inline void percpu_counter_sub_local(struct percpu_counter *fbc, s64 amount)
{
	percpu_counter_add_local(fbc, -amount);
}
static inline void percpu_counter_inc(struct percpu_counter *fbc) { percpu_counter_add(fbc, 1); }
static inline void percpu_counter_dec(struct percpu_counter *fbc) { percpu_counter_add(fbc, -1); }
static inline s64 percpu_counter_read(struct percpu_counter *fbc) { return READ_ONCE(fbc->count); }
static inline s64 percpu_counter_read_positive(struct percpu_counter *fbc)
{
	s64 count = percpu_counter_read(fbc);

	return count > 0 ? count : 0;
}
static inline s64 percpu_counter_sum(struct percpu_counter *fbc) { return __percpu_counter_sum(fbc); }
static inline s64 percpu_counter_sum_positive(struct percpu_counter *fbc)
{
	s64 sum = percpu_counter_sum(fbc);

	return sum > 0 ? sum : 0;
}
static inline int percpu_counter_compare(struct percpu_counter *fbc, s64 value)
{
	return __percpu_counter_compare(fbc, value, percpu_counter_batch);
}
static inline bool percpu_counter_initialized(struct percpu_counter *fbc) { return fbc->counters != NULL; }

#endif
