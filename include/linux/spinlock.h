/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Spinlocks: a word, taken by exchange; whoever waits lets others run now and then.
 *
 * Holding one forbids sleeping; the host remembers where the outermost was taken. */
#ifndef _LINUX_SPINLOCK_H
#define _LINUX_SPINLOCK_H

#include <linux/compiler.h>
#include <linux/irqflags.h>
#include <linux/kconfig.h>
#include <linux/lockdep.h>
#include <linux/preempt.h>
#include <linux/spinlock_types.h>
#include <linux/version.h>
#include <asm/barrier.h>
#include <asm/processor.h>

extern void kapi_spin_wait(const volatile unsigned int *word);

/* As kapi_atomic_enter() and _exit(), with the lock: which are held when others are taken. The runtime's own are not told. */
extern void kapi_lock_enter(const volatile void *lock, unsigned int how);
extern void kapi_lock_got(const volatile void *lock);
extern void kapi_lock_exit(const volatile void *lock);
#ifdef KAPI_RUNTIME
#define __kapi_lock_enter(lock, how) kapi_atomic_enter()
#define __kapi_lock_got(lock) kapi_atomic_enter()
#define __kapi_lock_exit(lock) kapi_atomic_exit()
#else
#define __kapi_lock_enter(lock, how) kapi_lock_enter(lock, how)
#define __kapi_lock_got(lock) kapi_lock_got(lock)
#define __kapi_lock_exit(lock) kapi_lock_exit(lock)
#endif

static __always_inline void kapi_spin_acquire(volatile unsigned int *word)
{
	while (__atomic_exchange_n(word, 1, __ATOMIC_ACQUIRE))
		kapi_spin_wait(word);
}

static __always_inline int kapi_spin_try(volatile unsigned int *word)
{
	return !__atomic_exchange_n(word, 1, __ATOMIC_ACQUIRE);
}

static __always_inline void kapi_spin_release(volatile unsigned int *word)
{
	__atomic_store_n(word, 0, __ATOMIC_RELEASE);
}

#define KAPI_WRITER (~0U)

static __always_inline int kapi_read_try(volatile unsigned int *word)
{
	unsigned int old = __atomic_load_n(word, __ATOMIC_RELAXED);

	return old != KAPI_WRITER &&
	       __atomic_compare_exchange_n(word, &old, old + 1, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}

static __always_inline int kapi_write_try(volatile unsigned int *word)
{
	unsigned int old = 0;

	return __atomic_compare_exchange_n(word, &old, KAPI_WRITER, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}

static __always_inline raw_spinlock_t *spinlock_check(spinlock_t *lock) { return &lock->rlock; }

#define raw_spin_lock_init(lock) do { (lock)->val = 0; __kapi_lock_init(lock, #lock); } while (0)
#define raw_spin_is_locked(lock) ((lock)->val != 0)
#define __kapi_raw_spin_lock(lock, how) \
	do { __kapi_lock_enter(&(lock)->val, how); kapi_spin_acquire(&(lock)->val); } while (0)
#define raw_spin_lock(lock) __kapi_raw_spin_lock(lock, 0)
#define raw_spin_lock_nested(lock, subclass) __kapi_raw_spin_lock(lock, subclass)
#define raw_spin_unlock(lock) do { kapi_spin_release(&(lock)->val); __kapi_lock_exit(&(lock)->val); } while (0)
#define raw_spin_trylock_irq(lock) ({ \
	local_irq_disable(); \
	raw_spin_trylock(lock) ? 1 : ({ local_irq_enable(); 0; }); })
#define raw_spin_trylock_irqsave(lock, flags) ({ \
	local_irq_save(flags); \
	raw_spin_trylock(lock) ? 1 : ({ local_irq_restore(flags); 0; }); })
#define raw_spin_lock_bh(lock) do { local_bh_disable(); raw_spin_lock(lock); } while (0)
#define raw_spin_unlock_bh(lock) do { raw_spin_unlock(lock); local_bh_enable(); } while (0)
#define raw_spin_lock_irq(lock) do { local_irq_disable(); raw_spin_lock(lock); } while (0)
#define raw_spin_unlock_irq(lock) do { raw_spin_unlock(lock); local_irq_enable(); } while (0)
#define raw_spin_lock_irqsave(lock, flags) do { local_irq_save(flags); raw_spin_lock(lock); } while (0)
#define raw_spin_unlock_irqrestore(lock, flags) do { raw_spin_unlock(lock); local_irq_restore(flags); } while (0)
#define raw_spin_trylock(lock) ({ \
	int __kapi_got = kapi_spin_try(&(lock)->val); \
	if (__kapi_got) \
		__kapi_lock_got(&(lock)->val); \
	__kapi_got; })

#define spin_lock_init(lock) do { spinlock_check(lock)->val = 0; __kapi_lock_init(lock, #lock); } while (0)
#define spin_is_locked(lock) raw_spin_is_locked(spinlock_check(lock))
#define spin_is_contended(lock) 0
#define assert_spin_locked(lock) ((void)0)
#define spin_unlock_wait(lock) \
	do { \
		while (spin_is_locked(lock)) \
			kapi_spin_wait(&(lock)->rlock.val); \
	} while (0)
#define spin_lock(lock) raw_spin_lock(spinlock_check(lock))
#define spin_unlock(lock) raw_spin_unlock(spinlock_check(lock))
#define spin_lock_nested(lock, subclass) raw_spin_lock_nested(spinlock_check(lock), subclass)
#define spin_lock_bh_nested(lock, subclass) do { local_bh_disable(); spin_lock_nested(lock, subclass); } while (0)
#define spin_lock_nest_lock(lock, other) do { (void)(other); spin_lock_nested(lock, KAPI_LOCK_NESTED); } while (0)
#define spin_lock_bh(lock) raw_spin_lock_bh(spinlock_check(lock))
#define spin_unlock_bh(lock) raw_spin_unlock_bh(spinlock_check(lock))
#define spin_lock_irq(lock) raw_spin_lock_irq(spinlock_check(lock))
#define spin_unlock_irq(lock) raw_spin_unlock_irq(spinlock_check(lock))
#define spin_lock_irqsave(lock, flags) raw_spin_lock_irqsave(spinlock_check(lock), flags)
#define spin_unlock_irqrestore(lock, flags) raw_spin_unlock_irqrestore(spinlock_check(lock), flags)
#define spin_lock_irqsave_nested(lock, flags, subclass) \
	do { local_irq_save(flags); spin_lock_nested(lock, subclass); } while (0)
#define spin_trylock(lock) raw_spin_trylock(spinlock_check(lock))
#define spin_trylock_bh(lock) ({ \
	local_bh_disable(); \
	spin_trylock(lock) ? 1 : ({ local_bh_enable(); 0; }); })
#define spin_trylock_irq(lock) raw_spin_trylock_irq(spinlock_check(lock))
#define spin_trylock_irqsave(lock, flags) raw_spin_trylock_irqsave(spinlock_check(lock), flags)

#define rwlock_init(lock) do { (lock)->val = 0; __kapi_lock_init(lock, #lock); } while (0)
#define read_lock(lock) \
	do { \
		__kapi_lock_enter(&(lock)->val, KAPI_LOCK_READS); \
		while (!kapi_read_try(&(lock)->val)) \
			kapi_spin_wait(&(lock)->val); \
	} while (0)
#define read_unlock(lock) \
	do { __atomic_fetch_sub(&(lock)->val, 1, __ATOMIC_RELEASE); __kapi_lock_exit(&(lock)->val); } while (0)
#define write_lock(lock) \
	do { \
		__kapi_lock_enter(&(lock)->val, 0); \
		while (!kapi_write_try(&(lock)->val)) \
			kapi_spin_wait(&(lock)->val); \
	} while (0)
#define write_unlock(lock) do { kapi_spin_release(&(lock)->val); __kapi_lock_exit(&(lock)->val); } while (0)
#define __KAPI_TRIED(took, lock) ({ \
	int __kapi_got = took(&(lock)->val); \
	if (__kapi_got) \
		__kapi_lock_got(&(lock)->val); \
	__kapi_got; })
#define read_trylock(lock) __KAPI_TRIED(kapi_read_try, lock)
#define write_trylock(lock) __KAPI_TRIED(kapi_write_try, lock)
#define write_trylock_irqsave(lock, flags) ({ \
	local_irq_save(flags); \
	write_trylock(lock) ? 1 : ({ local_irq_restore(flags); 0; }); })
#define __KAPI_WITH_IRQ(op, lock) do { local_irq_disable(); op(lock); } while (0)
#define __KAPI_THEN_IRQ(op, lock) do { op(lock); local_irq_enable(); } while (0)
#define __KAPI_WITH_SAVE(op, lock, flags) do { local_irq_save(flags); op(lock); } while (0)
#define __KAPI_THEN_RESTORE(op, lock, flags) do { op(lock); local_irq_restore(flags); } while (0)
#define read_lock_irq(lock) __KAPI_WITH_IRQ(read_lock, lock)
#define read_unlock_irq(lock) __KAPI_THEN_IRQ(read_unlock, lock)
#define read_lock_irqsave(lock, flags) __KAPI_WITH_SAVE(read_lock, lock, flags)
#define read_unlock_irqrestore(lock, flags) __KAPI_THEN_RESTORE(read_unlock, lock, flags)
#define read_lock_bh(lock) do { local_bh_disable(); read_lock(lock); } while (0)
#define read_unlock_bh(lock) do { read_unlock(lock); local_bh_enable(); } while (0)
#define write_lock_irq(lock) __KAPI_WITH_IRQ(write_lock, lock)
#define write_unlock_irq(lock) __KAPI_THEN_IRQ(write_unlock, lock)
#define write_lock_irqsave(lock, flags) __KAPI_WITH_SAVE(write_lock, lock, flags)
#define write_unlock_irqrestore(lock, flags) __KAPI_THEN_RESTORE(write_unlock, lock, flags)
#define write_lock_bh(lock) do { local_bh_disable(); write_lock(lock); } while (0)
#define write_unlock_bh(lock) do { write_unlock(lock); local_bh_enable(); } while (0)

#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 5, 0)
DEFINE_LOCK_GUARD_1(raw_spinlock, raw_spinlock_t, raw_spin_lock(_T->lock), raw_spin_unlock(_T->lock))
DEFINE_LOCK_GUARD_1_COND(raw_spinlock, _try, raw_spin_trylock(_T->lock))
DEFINE_LOCK_GUARD_1(raw_spinlock_nested, raw_spinlock_t, raw_spin_lock(_T->lock), raw_spin_unlock(_T->lock))
DEFINE_LOCK_GUARD_1(raw_spinlock_bh, raw_spinlock_t, raw_spin_lock_bh(_T->lock), raw_spin_unlock_bh(_T->lock))
DEFINE_LOCK_GUARD_1_COND(raw_spinlock_bh, _try, raw_spin_trylock(_T->lock))
DEFINE_LOCK_GUARD_1(raw_spinlock_irq, raw_spinlock_t, raw_spin_lock_irq(_T->lock), raw_spin_unlock_irq(_T->lock))
DEFINE_LOCK_GUARD_1_COND(raw_spinlock_irq, _try, raw_spin_trylock_irq(_T->lock))
DEFINE_LOCK_GUARD_1(raw_spinlock_irqsave, raw_spinlock_t, raw_spin_lock_irqsave(_T->lock, _T->flags),
		    raw_spin_unlock_irqrestore(_T->lock, _T->flags), unsigned long flags)
DEFINE_LOCK_GUARD_1_COND(raw_spinlock_irqsave, _try, raw_spin_trylock_irqsave(_T->lock, _T->flags))
DEFINE_LOCK_GUARD_1(spinlock, spinlock_t, spin_lock(_T->lock), spin_unlock(_T->lock))
DEFINE_LOCK_GUARD_1_COND(spinlock, _try, spin_trylock(_T->lock))
DEFINE_LOCK_GUARD_1(spinlock_nested, spinlock_t, spin_lock(_T->lock), spin_unlock(_T->lock))
DEFINE_LOCK_GUARD_1(spinlock_bh, spinlock_t, spin_lock_bh(_T->lock), spin_unlock_bh(_T->lock))
DEFINE_LOCK_GUARD_1_COND(spinlock_bh, _try, spin_trylock(_T->lock))
DEFINE_LOCK_GUARD_1(spinlock_irq, spinlock_t, spin_lock_irq(_T->lock), spin_unlock_irq(_T->lock))
DEFINE_LOCK_GUARD_1_COND(spinlock_irq, _try, spin_trylock_irq(_T->lock))
DEFINE_LOCK_GUARD_1(spinlock_irqsave, spinlock_t, spin_lock_irqsave(_T->lock, _T->flags),
		    spin_unlock_irqrestore(_T->lock, _T->flags), unsigned long flags)
DEFINE_LOCK_GUARD_1_COND(spinlock_irqsave, _try, spin_trylock_irqsave(_T->lock, _T->flags))
DEFINE_LOCK_GUARD_1(read_lock, rwlock_t, read_lock(_T->lock), read_unlock(_T->lock))
DEFINE_LOCK_GUARD_1(read_lock_irq, rwlock_t, read_lock_irq(_T->lock), read_unlock_irq(_T->lock))
DEFINE_LOCK_GUARD_1(read_lock_irqsave, rwlock_t, read_lock_irqsave(_T->lock, _T->flags),
		    read_unlock_irqrestore(_T->lock, _T->flags), unsigned long flags)
DEFINE_LOCK_GUARD_1(write_lock, rwlock_t, write_lock(_T->lock), write_unlock(_T->lock))
DEFINE_LOCK_GUARD_1(write_lock_irq, rwlock_t, write_lock_irq(_T->lock), write_unlock_irq(_T->lock))
DEFINE_LOCK_GUARD_1(write_lock_irqsave, rwlock_t, write_lock_irqsave(_T->lock, _T->flags),
		    write_unlock_irqrestore(_T->lock, _T->flags), unsigned long flags)
#endif

#endif
