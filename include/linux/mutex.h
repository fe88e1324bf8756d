/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Sleeping locks. */
#ifndef _LINUX_MUTEX_H
#define _LINUX_MUTEX_H

#include <linux/types.h>
#include <linux/list.h>
#include <linux/lockdep.h>
#include <linux/spinlock_types.h>

/* 0 free, 1 held, 2 held and somebody waits. */
struct mutex {
	volatile unsigned int word;
	struct task_struct *owner;
};

#define __MUTEX_INITIALIZER(name) { 0, NULL }
#define DEFINE_MUTEX(name) struct mutex name = __MUTEX_INITIALIZER(name)
#define mutex_init(lock) (*(lock) = (struct mutex)__MUTEX_INITIALIZER(lock))
#define mutex_destroy(lock) ((void)(lock))
#define mutex_is_locked(lock) (READ_ONCE((lock)->word) != 0)

extern void mutex_lock(struct mutex *lock);
extern int mutex_lock_interruptible(struct mutex *lock);
extern int mutex_lock_killable(struct mutex *lock);
extern int mutex_trylock(struct mutex *lock);
extern void mutex_unlock(struct mutex *lock);
#define mutex_lock_nested(lock, subclass) mutex_lock(lock)

#endif
