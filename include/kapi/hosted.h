/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * What <linux/xarray.h>, <linux/idr.h> and <linux/radix-tree.h> need of the kernel, for programs that live with
 * libc's headers: types, locks and read-copy-update, by the names that the documentation of the array uses. The
 * other headers of this folder are for modules and do not go together with libc's.
 */
#ifndef _KAPI_HOSTED_H
#define _KAPI_HOSTED_H

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef unsigned int gfp_t;

#define BITS_PER_LONG (8 * (int)sizeof(long))
#define __rcu
#define __must_check __attribute__((__warn_unused_result__))
#ifndef likely
#define likely(x) __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)
#endif
#ifndef READ_ONCE
#define READ_ONCE(x) (*(const volatile __typeof__(x) *)&(x))
#define WRITE_ONCE(x, value) (*(volatile __typeof__(x) *)&(x) = (value))
#endif
#ifndef container_of
#define container_of(ptr, type, member) ((type *)(void *)((char *)(ptr) - offsetof(type, member)))
#endif

#define WARN(condition, ...) __extension__({				\
	int __warned = !!(condition);					\
	if (unlikely(__warned))						\
		fprintf(stderr, "WARNING: " __VA_ARGS__);		\
	__warned;							\
})

#define WARN_ON(condition) WARN(condition, "%s:%d: %s\n", __FILE__, __LINE__, #condition)

#define MAX_ERRNO 4095

static inline void *ERR_PTR(long error) { return (void *)error; }
static inline long PTR_ERR(const void *ptr) { return (long)ptr; }
static inline bool IS_ERR(const void *ptr) { return (unsigned long)ptr >= (unsigned long)-MAX_ERRNO; }

struct list_head {
	struct list_head *next, *prev;
};

/* Locks. There are no interrupts to be kept out. */
void slablab_spin_lock(void *lock);
bool slablab_spin_trylock(void *lock);
void slablab_spin_unlock(void *lock);

typedef struct spinlock {
	volatile unsigned int value;
} spinlock_t;

#define __SPIN_LOCK_UNLOCKED(name) { 0 }
#define DEFINE_SPINLOCK(name) spinlock_t name = { 0 }
#define spin_lock_init(lock) ((void)((lock)->value = 0))
#define spin_lock(lock) slablab_spin_lock(lock)
#define spin_trylock(lock) slablab_spin_trylock(lock)
#define spin_unlock(lock) slablab_spin_unlock(lock)
#define spin_lock_bh(lock) spin_lock(lock)
#define spin_unlock_bh(lock) spin_unlock(lock)
#define spin_lock_irq(lock) spin_lock(lock)
#define spin_unlock_irq(lock) spin_unlock(lock)
#define spin_lock_irqsave(lock, flags) ((flags) = 0, spin_lock(lock))
#define spin_unlock_irqrestore(lock, flags) ((void)(flags), spin_unlock(lock))
#define spin_lock_nested(lock, subclass) spin_lock(lock)
#define spin_lock_irqsave_nested(lock, flags, subclass) spin_lock_irqsave(lock, flags)

/*
 * Read-copy-update. A callback runs later, in a thread that calls call_rcu() or rcu_barrier(); so none may take
 * a lock under which those are called.
 */
struct rcu_head {
	struct rcu_head *next;
	void (*func)(struct rcu_head *head);
};

void slablab_rcu_read_lock(void);
void slablab_rcu_read_unlock(void);
void slablab_synchronize_rcu(void);
void slablab_call_rcu(struct rcu_head *head, void (*func)(struct rcu_head *head));
void slablab_rcu_barrier(void);

#define rcu_read_lock() slablab_rcu_read_lock()
#define rcu_read_unlock() slablab_rcu_read_unlock()
#define synchronize_rcu() slablab_synchronize_rcu()
#define call_rcu(head, func) slablab_call_rcu(head, func)
#define rcu_barrier() slablab_rcu_barrier()
#define rcu_dereference(p) __atomic_load_n(&(p), __ATOMIC_ACQUIRE)
#define rcu_assign_pointer(p, v) __atomic_store_n(&(p), (v), __ATOMIC_RELEASE)

#endif
