/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Read-copy-update whose readers may sleep: each srcu_struct has its own readers, counted in two places of which one
 * is the current one.
 */
#ifndef _LINUX_SRCU_H
#define _LINUX_SRCU_H

#include <linux/atomic.h>
#include <linux/mutex.h>
#include <linux/rcupdate.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

struct srcu_struct {
	atomic_long_t readers[2];
	volatile unsigned int current_index;
	struct mutex mutex;
	struct rcu_head *callbacks;
	struct work_struct work;
	volatile unsigned int ready;
};

#define __KAPI_SRCU(name) { .mutex = __MUTEX_INITIALIZER(name.mutex) }
#define DEFINE_SRCU(name) struct srcu_struct name = __KAPI_SRCU(name)
#define DEFINE_STATIC_SRCU(name) static struct srcu_struct name = __KAPI_SRCU(name)

extern int init_srcu_struct(struct srcu_struct *ssp);
extern void cleanup_srcu_struct(struct srcu_struct *ssp);
extern int srcu_read_lock(struct srcu_struct *ssp);
extern void srcu_read_unlock(struct srcu_struct *ssp, int index);
extern void synchronize_srcu(struct srcu_struct *ssp);
extern void call_srcu(struct srcu_struct *ssp, struct rcu_head *head, rcu_callback_t func);
extern void srcu_barrier(struct srcu_struct *ssp);
#define synchronize_srcu_expedited(ssp) synchronize_srcu(ssp)
#define srcu_read_lock_held(ssp) (atomic_long_read(&(ssp)->readers[0]) + atomic_long_read(&(ssp)->readers[1]) > 0)
#define srcu_dereference(p, ssp) rcu_dereference(p)
#define srcu_dereference_check(p, ssp, condition) rcu_dereference(p)

#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 5, 0)
DEFINE_LOCK_GUARD_1(srcu, struct srcu_struct, _T->index = srcu_read_lock(_T->lock),
		    srcu_read_unlock(_T->lock, _T->index), int index)
#endif

#endif
