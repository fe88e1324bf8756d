/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Reader-writer semaphores. */
#ifndef _LINUX_RWSEM_H
#define _LINUX_RWSEM_H

#include <linux/types.h>

/* Readers, or all bits set for a writer. */
struct rw_semaphore {
	volatile unsigned int word;
};

#define __RWSEM_INITIALIZER(name) { 0 }
#define DECLARE_RWSEM(name) struct rw_semaphore name = __RWSEM_INITIALIZER(name)
#define init_rwsem(sem) ((sem)->word = 0)
extern void down_read(struct rw_semaphore *sem);
extern int down_read_trylock(struct rw_semaphore *sem);
extern void up_read(struct rw_semaphore *sem);
extern void down_write(struct rw_semaphore *sem);
extern int down_write_trylock(struct rw_semaphore *sem);
extern void up_write(struct rw_semaphore *sem);
extern void downgrade_write(struct rw_semaphore *sem);
#define down_write_killable(sem) (down_write(sem), 0)
#define down_read_killable(sem) (down_read(sem), 0)

#endif
