/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The kernel's array with the same spin lock as ours, instead of the test harness's pthread mutex. */
#ifndef BENCH_SPINLOCK_H
#define BENCH_SPINLOCK_H

typedef struct { volatile int held; } spinlock_t;
#define __SPIN_LOCK_UNLOCKED(name) { 0 }
#define DEFINE_SPINLOCK(name) spinlock_t name = { 0 }
#define spin_lock_init(lock) ((lock)->held = 0)
#define spin_lock(lock) do { while (__atomic_exchange_n(&(lock)->held, 1, __ATOMIC_ACQUIRE)) ; } while (0)
#define spin_unlock(lock) __atomic_store_n(&(lock)->held, 0, __ATOMIC_RELEASE)
#define spin_lock_bh(lock) spin_lock(lock)
#define spin_unlock_bh(lock) spin_unlock(lock)
#define spin_lock_irq(lock) spin_lock(lock)
#define spin_unlock_irq(lock) spin_unlock(lock)
#define spin_lock_irqsave(lock, flags) do { (void)(flags); spin_lock(lock); } while (0)
#define spin_unlock_irqrestore(lock, flags) do { (void)(flags); spin_unlock(lock); } while (0)

#endif
