/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Read-copy-update.
 *
 * A reader is counted in its thread; synchronize_rcu() waits until every reader that was inside has
 * left; call_rcu() hands over to a thread that does so and then calls back. */
#ifndef _LINUX_RCUPDATE_H
#define _LINUX_RCUPDATE_H

#include <linux/compiler.h>
#include <linux/types.h>
#include <linux/kconfig.h>
#include <linux/preempt.h>
#include <linux/version.h>
#include <asm/barrier.h>

extern void kapi_rcu_read_lock(void);
extern void kapi_rcu_read_unlock(void);
extern int kapi_rcu_read_held(void);
extern void synchronize_rcu(void);
extern void call_rcu(struct rcu_head *head, rcu_callback_t func);
extern void rcu_barrier(void);

#define rcu_read_lock() kapi_rcu_read_lock()
#define rcu_read_unlock() kapi_rcu_read_unlock()
#define rcu_read_lock_bh() kapi_rcu_read_lock()
#define rcu_read_unlock_bh() kapi_rcu_read_unlock()
#define rcu_read_lock_sched() kapi_rcu_read_lock()
#define rcu_read_unlock_sched() kapi_rcu_read_unlock()
#define rcu_read_lock_held() kapi_rcu_read_held()
#define rcu_read_lock_any_held() kapi_rcu_read_held()
#define synchronize_sched() synchronize_rcu()
#define synchronize_net() synchronize_rcu()
#define synchronize_kernel() synchronize_rcu()
#define synchronize_rcu_expedited() synchronize_rcu()
#define call_rcu_bh(head, func) call_rcu(head, func)
#define call_rcu_sched(head, func) call_rcu(head, func)

#define rcu_dereference(p) __atomic_load_n(&(p), __ATOMIC_CONSUME)
#define rcu_dereference_check(p, condition) rcu_dereference(p)
#define rcu_dereference_protected(p, condition) (p)
#define rcu_dereference_raw(p) rcu_dereference(p)
#define rcu_dereference_raw_check(p) rcu_dereference(p)
#define rcu_dereference_bh(p) rcu_dereference(p)
#define rcu_access_pointer(p) READ_ONCE(p)
#define rcu_assign_pointer(p, v) __atomic_store_n(&(p), (typeof(p))(v), __ATOMIC_RELEASE)
#define rcu_replace_pointer(p, v, condition) ({ \
	typeof(p) __kapi_old = (p); \
	rcu_assign_pointer(p, v); \
	__kapi_old; })
#define RCU_INIT_POINTER(p, v) ((p) = (typeof(p))(v))
#define RCU_INITIALIZER(v) (v)
#define rcu_pointer_handoff(p) (p)
#define init_rcu_head(head) ((void)0)
#define destroy_rcu_head(head) ((void)0)
#define RCU_LOCKDEP_WARN(condition, message) ((void)0)

/* Frees after a grace period; without a head it waits for one first. */
extern void kvfree_call_rcu(struct rcu_head *head, void *ptr);
#define kfree_rcu(...) KAPI_BY_COUNT(__kapi_kfree_rcu_, __VA_ARGS__)
#define __kapi_kfree_rcu_2(ptr, field) kvfree_call_rcu(&(ptr)->field, (void *)(ptr))
#define __kapi_kfree_rcu_1(ptr) kvfree_call_rcu(NULL, (void *)(ptr))
#define kvfree_rcu(...) kfree_rcu(__VA_ARGS__)
#define kfree_rcu_mightsleep(ptr) kvfree_call_rcu(NULL, (void *)(ptr))
#define kvfree_rcu_mightsleep(ptr) kfree_rcu_mightsleep(ptr)
/* Returns when all that was given to kfree_rcu() is freed. */
extern void kvfree_rcu_barrier(void);
/* Of 7.x, for one cache: all wait in one queue here. */
#define kvfree_rcu_barrier_on_cache(cache) ((void)(cache), kvfree_rcu_barrier())

#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 5, 0)
#include <linux/cleanup.h>
DEFINE_LOCK_GUARD_0(rcu, rcu_read_lock(), rcu_read_unlock())
#endif

#endif
