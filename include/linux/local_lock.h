/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * A lock for each CPU, for what one CPU alone works on.
 *
 * Several threads of a module may belong to one CPU at the same time, so that forbidding preemption would keep none of
 * them out: here the lock of a CPU is a spinlock, which its threads take.
 *
 * Linux counterpart: include/linux/local_lock.h @ 5.8; local_trylock_t @ 6.15. Differences from Linux: a local_lock_t
 * may be tried, too; local_lock_nested_bh() is the same lock, and needs no local_bh_disable().
 */
#ifndef _LINUX_LOCAL_LOCK_H
#define _LINUX_LOCAL_LOCK_H

#include <linux/percpu.h>
#include <linux/spinlock.h>
#include <linux/version.h>

typedef struct {
	raw_spinlock_t kapi_lock;
} local_lock_t;
typedef local_lock_t local_trylock_t;

#define INIT_LOCAL_LOCK(name) { .kapi_lock = { 0 } }
#define INIT_LOCAL_TRYLOCK(name) INIT_LOCAL_LOCK(name)
#define local_lock_init(lock) raw_spin_lock_init(&(lock)->kapi_lock)
#define local_trylock_init(lock) local_lock_init(lock)

#define local_lock(lock) raw_spin_lock(&this_cpu_ptr(lock)->kapi_lock)
#define local_unlock(lock) raw_spin_unlock(&this_cpu_ptr(lock)->kapi_lock)
#define local_lock_irq(lock) raw_spin_lock_irq(&this_cpu_ptr(lock)->kapi_lock)
#define local_unlock_irq(lock) raw_spin_unlock_irq(&this_cpu_ptr(lock)->kapi_lock)
#define local_lock_irqsave(lock, flags) raw_spin_lock_irqsave(&this_cpu_ptr(lock)->kapi_lock, flags)
#define local_unlock_irqrestore(lock, flags) raw_spin_unlock_irqrestore(&this_cpu_ptr(lock)->kapi_lock, flags)
#define local_lock_nested_bh(lock) local_lock(lock)
#define local_unlock_nested_bh(lock) local_unlock(lock)
#define local_trylock(lock) raw_spin_trylock(&this_cpu_ptr(lock)->kapi_lock)
#define local_trylock_irqsave(lock, flags) raw_spin_trylock_irqsave(&this_cpu_ptr(lock)->kapi_lock, flags)
#define local_lock_is_locked(lock) raw_spin_is_locked(&this_cpu_ptr(lock)->kapi_lock)

#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 5, 0)
DEFINE_LOCK_GUARD_1(local_lock, local_lock_t, local_lock(_T->lock), local_unlock(_T->lock))
DEFINE_LOCK_GUARD_1(local_lock_irq, local_lock_t, local_lock_irq(_T->lock), local_unlock_irq(_T->lock))
DEFINE_LOCK_GUARD_1(local_lock_irqsave, local_lock_t, local_lock_irqsave(_T->lock, _T->flags),
		    local_unlock_irqrestore(_T->lock, _T->flags), unsigned long flags)
DEFINE_LOCK_GUARD_1(local_lock_nested_bh, local_lock_t, local_lock_nested_bh(_T->lock), local_unlock_nested_bh(_T->lock))
#endif

#endif
