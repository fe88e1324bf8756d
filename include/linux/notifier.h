/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Chains of functions to call when something happens, by falling priority. */
#ifndef _LINUX_NOTIFIER_H
#define _LINUX_NOTIFIER_H

#include <linux/errno.h>
#include <linux/mutex.h>
#include <linux/rwsem.h>
#include <linux/spinlock.h>
#include <linux/types.h>

struct notifier_block;
typedef int (*notifier_fn_t)(struct notifier_block *nb, unsigned long action, void *data);

struct notifier_block {
	notifier_fn_t notifier_call;
	struct notifier_block *next;
	int priority;
};

struct raw_notifier_head {
	struct notifier_block *head;
};

struct atomic_notifier_head {
	spinlock_t lock;
	struct notifier_block *head;
};

struct blocking_notifier_head {
	struct rw_semaphore rwsem;
	struct notifier_block *head;
};

#define NOTIFY_DONE 0x0000
#define NOTIFY_OK 0x0001
#define NOTIFY_STOP_MASK 0x8000
#define NOTIFY_BAD (NOTIFY_STOP_MASK | 0x0002)
#define NOTIFY_STOP (NOTIFY_OK | NOTIFY_STOP_MASK)

#define RAW_NOTIFIER_INIT(name) { NULL }
#define ATOMIC_NOTIFIER_INIT(name) { .lock = __SPIN_LOCK_UNLOCKED(name.lock), .head = NULL }
#define BLOCKING_NOTIFIER_INIT(name) { .rwsem = __RWSEM_INITIALIZER((name).rwsem), .head = NULL }
#define RAW_NOTIFIER_HEAD(name) struct raw_notifier_head name = RAW_NOTIFIER_INIT(name)
#define ATOMIC_NOTIFIER_HEAD(name) struct atomic_notifier_head name = ATOMIC_NOTIFIER_INIT(name)
#define BLOCKING_NOTIFIER_HEAD(name) struct blocking_notifier_head name = BLOCKING_NOTIFIER_INIT(name)
#define RAW_INIT_NOTIFIER_HEAD(nh) ((nh)->head = NULL)
#define ATOMIC_INIT_NOTIFIER_HEAD(nh) do { spin_lock_init(&(nh)->lock); (nh)->head = NULL; } while (0)
#define BLOCKING_INIT_NOTIFIER_HEAD(nh) do { init_rwsem(&(nh)->rwsem); (nh)->head = NULL; } while (0)

static inline int notifier_from_errno(int error) { return error ? NOTIFY_STOP_MASK | (NOTIFY_OK - error) : NOTIFY_OK; }

static inline int notifier_to_errno(int result)
{
	result &= ~NOTIFY_STOP_MASK;
	return result > NOTIFY_OK ? NOTIFY_OK - result : 0;
}

static inline int raw_notifier_chain_register(struct raw_notifier_head *nh, struct notifier_block *nb)
{
	struct notifier_block **at = &nh->head;

	for (; *at && (*at)->priority >= nb->priority; at = &(*at)->next)
		if (*at == nb)
			return -EEXIST;
	nb->next = *at;
	*at = nb;
	return 0;
}

static inline int raw_notifier_chain_unregister(struct raw_notifier_head *nh, struct notifier_block *nb)
{
	struct notifier_block **at = &nh->head;

	for (; *at; at = &(*at)->next)
		if (*at == nb) {
			*at = nb->next;
			return 0;
		}
	return -ENOENT;
}

static inline int raw_notifier_call_chain(struct raw_notifier_head *nh, unsigned long action, void *data)
{
	struct notifier_block *nb, *next;
	int result = NOTIFY_DONE;

	for (nb = nh->head; nb && !(result & NOTIFY_STOP_MASK); nb = next) {
		next = nb->next;
		result = nb->notifier_call(nb, action, data);
	}
	return result;
}

/* The other two kinds do the same under a lock. */
#define __KAPI_NOTIFIER(kind, take, release, take_read, release_read) \
	static inline int kind##_notifier_chain_register(struct kind##_notifier_head *nh, \
							 struct notifier_block *nb) \
	{ \
		int result; \
		take; \
		result = raw_notifier_chain_register((struct raw_notifier_head *)&nh->head, nb); \
		release; \
		return result; \
	} \
	static inline int kind##_notifier_chain_unregister(struct kind##_notifier_head *nh, \
							   struct notifier_block *nb) \
	{ \
		int result; \
		take; \
		result = raw_notifier_chain_unregister((struct raw_notifier_head *)&nh->head, nb); \
		release; \
		return result; \
	} \
	static inline int kind##_notifier_call_chain(struct kind##_notifier_head *nh, \
						     unsigned long action, void *data) \
	{ \
		int result; \
		take_read; \
		result = raw_notifier_call_chain((struct raw_notifier_head *)&nh->head, action, data); \
		release_read; \
		return result; \
	}
__KAPI_NOTIFIER(atomic, spin_lock(&nh->lock), spin_unlock(&nh->lock), (void)0, (void)0)
__KAPI_NOTIFIER(blocking, down_write(&nh->rwsem), up_write(&nh->rwsem), down_read(&nh->rwsem), up_read(&nh->rwsem))

#endif
