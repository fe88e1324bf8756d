/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Counting semaphores, and the names they had as mutexes. */
#ifndef _LINUX_SEMAPHORE_H
#define _LINUX_SEMAPHORE_H

#include <linux/kconfig.h>
#include <linux/list.h>
#include <linux/spinlock.h>
#include <linux/version.h>
#include <kapi/bytes.h>

struct semaphore {
	volatile unsigned int count;
	volatile unsigned int waiters;
	struct list_head kapi_rest;
};
KAPI_IS_LARGE(struct semaphore, KAPI_SEMAPHORE_BYTES);

#define __SEMAPHORE_INITIALIZER(name, n) { (n), 0 }
#define DEFINE_SEMAPHORE(...) KAPI_BY_COUNT(__kapi_define_semaphore_, __VA_ARGS__)
#define __kapi_define_semaphore_1(name) struct semaphore name = { 1, 0 }
#define __kapi_define_semaphore_2(name, n) struct semaphore name = { (n), 0 }
#define DECLARE_MUTEX(name) struct semaphore name = { 1, 0 }
#define DECLARE_MUTEX_LOCKED(name) struct semaphore name = { 0, 0 }
#define sema_init(sem, n) (*(sem) = (struct semaphore){ (unsigned int)(n), 0 })
#define init_MUTEX(sem) sema_init(sem, 1)
#define init_MUTEX_LOCKED(sem) sema_init(sem, 0)

extern void down(struct semaphore *sem);
extern int down_interruptible(struct semaphore *sem);
extern int down_killable(struct semaphore *sem);
extern int down_trylock(struct semaphore *sem);
extern int down_timeout(struct semaphore *sem, long jiffies);
extern void up(struct semaphore *sem);

#endif
