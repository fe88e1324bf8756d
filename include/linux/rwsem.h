/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Reader-writer semaphores. */
#ifndef _LINUX_RWSEM_H
#define _LINUX_RWSEM_H

#include <linux/compiler.h>
#include <linux/lockdep.h>
#include <linux/types.h>
#include <linux/version.h>
#include <kapi/bytes.h>

/* Readers, or all bits set for a writer. */
struct rw_semaphore {
	volatile unsigned int word;
	unsigned int kapi_pad;
	void *kapi_rest[KAPI_RW_SEMAPHORE_BYTES / 8 - 1];
};
KAPI_IS_LARGE(struct rw_semaphore, KAPI_RW_SEMAPHORE_BYTES);

#define __RWSEM_INITIALIZER(name) { 0 }
#define DECLARE_RWSEM(name) struct rw_semaphore name = __RWSEM_INITIALIZER(name)
#define init_rwsem(sem) do { (sem)->word = 0; __kapi_lock_init(sem, #sem); } while (0)
extern void down_read(struct rw_semaphore *sem);
extern int down_read_trylock(struct rw_semaphore *sem);
extern void up_read(struct rw_semaphore *sem);
extern void down_write(struct rw_semaphore *sem);
extern int down_write_trylock(struct rw_semaphore *sem);
extern void up_write(struct rw_semaphore *sem);
extern void downgrade_write(struct rw_semaphore *sem);
#define down_write_killable(sem) (down_write(sem), 0)
#define down_read_killable(sem) (down_read(sem), 0)
#define down_read_interruptible(sem) (down_read(sem), 0)
/* With how it is taken; what is not the owner's is told to nobody. */
extern void kapi_down_read(struct rw_semaphore *sem, unsigned int how);
extern void kapi_down_write(struct rw_semaphore *sem, unsigned int how);
#define down_read_nested(sem, subclass) kapi_down_read(sem, subclass)
#define down_write_nested(sem, subclass) kapi_down_write(sem, subclass)
#define down_write_nest_lock(sem, other) ((void)(other), kapi_down_write(sem, KAPI_LOCK_NESTED))
#define down_write_killable_nested(sem, subclass) (kapi_down_write(sem, subclass), 0)
extern void down_read_non_owner(struct rw_semaphore *sem);
extern void up_read_non_owner(struct rw_semaphore *sem);
#define rwsem_is_locked(sem) (READ_ONCE((sem)->word) != 0)

#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 5, 0)
#include <linux/cleanup.h>
DEFINE_GUARD(rwsem_read, struct rw_semaphore *, down_read(_T), up_read(_T))
DEFINE_GUARD_COND(rwsem_read, _try, down_read_trylock(_T))
DEFINE_GUARD_COND(rwsem_read, _intr, down_read_interruptible(_T) == 0)
DEFINE_GUARD(rwsem_write, struct rw_semaphore *, down_write(_T), up_write(_T))
DEFINE_GUARD_COND(rwsem_write, _try, down_write_trylock(_T))
DEFINE_GUARD_COND(rwsem_write, _kill, down_write_killable(_T) == 0)
#endif

#endif
