/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Sleeping locks. */
#ifndef _LINUX_MUTEX_H
#define _LINUX_MUTEX_H

#include <linux/types.h>
#include <linux/list.h>
#include <linux/lockdep.h>
#include <linux/spinlock_types.h>
#include <linux/version.h>
#include <kapi/bytes.h>

/* 0 free, 1 held, 2 held and somebody waits. */
struct mutex {
	volatile unsigned int word;
	struct task_struct *owner;
	u8 kapi_rest[KAPI_MUTEX_BYTES - 16];
};
KAPI_IS_LARGE(struct mutex, KAPI_MUTEX_BYTES);

#define __MUTEX_INITIALIZER(name) { 0, NULL }
#define DEFINE_MUTEX(name) struct mutex name = __MUTEX_INITIALIZER(name)
#define mutex_init(lock) \
	do { \
		*(lock) = (struct mutex)__MUTEX_INITIALIZER(lock); \
		__kapi_lock_init(lock, #lock); \
	} while (0)
#define mutex_destroy(lock) ((void)(lock))
#define mutex_is_locked(lock) (READ_ONCE((lock)->word) != 0)

extern void mutex_lock(struct mutex *lock);
extern int mutex_lock_interruptible(struct mutex *lock);
extern int mutex_lock_killable(struct mutex *lock);
extern int mutex_trylock(struct mutex *lock);
extern void mutex_unlock(struct mutex *lock);
/* With how it is taken, and the state in which the caller waits. */
extern int kapi_mutex_lock(struct mutex *lock, unsigned int how, unsigned int state);
#define mutex_lock_nested(lock, subclass) ((void)kapi_mutex_lock(lock, subclass, 0x0002 /* TASK_UNINTERRUPTIBLE */))
#define mutex_lock_interruptible_nested(lock, subclass) kapi_mutex_lock(lock, subclass, 0x0001 /* TASK_INTERRUPTIBLE */)
#define mutex_lock_killable_nested(lock, subclass) kapi_mutex_lock(lock, subclass, 0x0102 /* TASK_KILLABLE */)
#define mutex_lock_nest_lock(lock, other) ((void)(other), mutex_lock_nested(lock, KAPI_LOCK_NESTED))
#define mutex_trylock_nested(lock, subclass) mutex_trylock(lock)

#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 5, 0)
#include <linux/cleanup.h>
DEFINE_GUARD(mutex, struct mutex *, mutex_lock(_T), mutex_unlock(_T))
DEFINE_GUARD_COND(mutex, _try, mutex_trylock(_T))
DEFINE_GUARD_COND(mutex, _intr, mutex_lock_interruptible(_T) == 0)
DEFINE_GUARD_COND(mutex, _kill, mutex_lock_killable(_T) == 0)
#endif

#endif
