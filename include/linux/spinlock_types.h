/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What a spinlock is made of. */
#ifndef _LINUX_SPINLOCK_TYPES_H
#define _LINUX_SPINLOCK_TYPES_H

#include <linux/types.h>

typedef struct raw_spinlock {
	volatile unsigned int val;
} raw_spinlock_t;

typedef struct spinlock {
	struct raw_spinlock rlock;
} spinlock_t;

/* Readers, or all bits set for a writer. */
typedef struct {
	volatile unsigned int val;
} rwlock_t;

#define __RAW_SPIN_LOCK_UNLOCKED(name) (raw_spinlock_t){ 0 }
#define __SPIN_LOCK_UNLOCKED(name) (spinlock_t){ { 0 } }
#define __RW_LOCK_UNLOCKED(name) (rwlock_t){ 0 }
/* Unnamed initialisers, gone since 2.6.39. */
#define SPIN_LOCK_UNLOCKED (spinlock_t){ { 0 } }
#define RW_LOCK_UNLOCKED (rwlock_t){ 0 }
#define DEFINE_RAW_SPINLOCK(name) raw_spinlock_t name = { 0 }
#define DEFINE_SPINLOCK(name) spinlock_t name = { { 0 } }
#define DEFINE_RWLOCK(name) rwlock_t name = { 0 }

#endif
