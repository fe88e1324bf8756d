/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Reference counts that are taken and given back on one's own CPU, until they are killed.
 *
 * How it works: a count has two modes. By CPU, each get and put counts in the CPU's copy and nobody knows the sum;
 * killing it, or percpu_ref_switch_to_atomic(), makes all new gets and puts count in one atomic, waits for a grace
 * period (each get and put is a read-side section) and adds up the copies. Only then can the count reach 0. Meanwhile a
 * bias in the atomic keeps it from 0.
 *
 * Linux counterpart: include/linux/percpu-refcount.h @ 3.11 to 7.3. Difference from Linux: the mode is a field.
 */
#ifndef _LINUX_PERCPU_REFCOUNT_H
#define _LINUX_PERCPU_REFCOUNT_H

#include <linux/atomic.h>
#include <linux/gfp.h>
#include <linux/percpu.h>
#include <linux/rcupdate.h>
#include <linux/types.h>

struct percpu_ref;
typedef void(percpu_ref_func_t)(struct percpu_ref *ref);

/* Flags of percpu_ref_init(). */
enum {
	PERCPU_REF_INIT_ATOMIC = 1 << 0,
	PERCPU_REF_INIT_DEAD = 1 << 1,
	PERCPU_REF_ALLOW_REINIT = 1 << 2,
};

/* Bits of the mode. */
enum { KAPI_REF_ATOMIC = 1, KAPI_REF_DEAD = 2 };

struct percpu_ref_data {
	atomic_long_t count;
	percpu_ref_func_t *release;
	percpu_ref_func_t *confirm_switch;
	unsigned int switching;
	bool force_atomic, allow_reinit;
	struct rcu_head rcu;
	struct percpu_ref *ref;
};

struct percpu_ref {
	unsigned long __percpu *kapi_counts;
	unsigned int kapi_mode;
	struct percpu_ref_data *data;
};

extern int percpu_ref_init(struct percpu_ref *ref, percpu_ref_func_t *release, unsigned int flags, gfp_t gfp);
extern void percpu_ref_exit(struct percpu_ref *ref);
extern void percpu_ref_switch_to_atomic(struct percpu_ref *ref, percpu_ref_func_t *confirm);
extern void percpu_ref_switch_to_atomic_sync(struct percpu_ref *ref);
extern void percpu_ref_switch_to_percpu(struct percpu_ref *ref);
extern void percpu_ref_kill_and_confirm(struct percpu_ref *ref, percpu_ref_func_t *confirm);
extern void percpu_ref_resurrect(struct percpu_ref *ref);
extern void percpu_ref_reinit(struct percpu_ref *ref);
extern bool percpu_ref_is_zero(struct percpu_ref *ref);

static inline void percpu_ref_kill(struct percpu_ref *ref) { percpu_ref_kill_and_confirm(ref, NULL); }
static inline bool percpu_ref_is_dying(struct percpu_ref *ref) { return READ_ONCE(ref->kapi_mode) & KAPI_REF_DEAD; }

static inline bool kapi_ref_by_cpu(struct percpu_ref *ref)
{
	return !(smp_load_acquire(&ref->kapi_mode) & KAPI_REF_ATOMIC);
}

static inline void percpu_ref_get_many(struct percpu_ref *ref, unsigned long n)
{
	rcu_read_lock();
	if (kapi_ref_by_cpu(ref))
		this_cpu_add(*ref->kapi_counts, n);
	else
		atomic_long_add((long)n, &ref->data->count);
	rcu_read_unlock();
}
static inline void percpu_ref_get(struct percpu_ref *ref) { percpu_ref_get_many(ref, 1); }

static inline bool percpu_ref_tryget_many(struct percpu_ref *ref, unsigned long n)
{
	bool got = true;

	rcu_read_lock();
	if (kapi_ref_by_cpu(ref))
		this_cpu_add(*ref->kapi_counts, n);
	else
		got = atomic_long_add_unless(&ref->data->count, (long)n, 0);
	rcu_read_unlock();
	return got;
}
static inline bool percpu_ref_tryget(struct percpu_ref *ref) { return percpu_ref_tryget_many(ref, 1); }

/* For callers that hold the read-side lock. */
static inline bool percpu_ref_tryget_live_rcu(struct percpu_ref *ref)
{
	return !percpu_ref_is_dying(ref) && percpu_ref_tryget_many(ref, 1);
}
static inline bool percpu_ref_tryget_live(struct percpu_ref *ref)
{
	bool got;

	rcu_read_lock();
	got = percpu_ref_tryget_live_rcu(ref);
	rcu_read_unlock();
	return got;
}

static inline void percpu_ref_put_many(struct percpu_ref *ref, unsigned long n)
{
	rcu_read_lock();
	if (kapi_ref_by_cpu(ref))
		this_cpu_sub(*ref->kapi_counts, n);
	else if (atomic_long_sub_and_test((long)n, &ref->data->count))
		ref->data->release(ref);
	rcu_read_unlock();
}
static inline void percpu_ref_put(struct percpu_ref *ref) { percpu_ref_put_many(ref, 1); }

#endif
