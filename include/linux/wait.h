/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Wait queues. */
#ifndef _LINUX_WAIT_H
#define _LINUX_WAIT_H

#include <linux/kernel.h>
#include <linux/list.h>
#include <linux/sched.h>
#include <linux/spinlock.h>

struct wait_queue_entry;
typedef int (*wait_queue_func_t)(struct wait_queue_entry *entry, unsigned int mode, int flags, void *key);

struct wait_queue_entry {
	unsigned int flags;
	void *private;
	wait_queue_func_t func;
	union {
		struct list_head entry;
		struct list_head task_list;
	};
};
typedef struct wait_queue_entry wait_queue_entry_t;
typedef struct wait_queue_entry wait_queue_t;

struct wait_queue_head {
	spinlock_t lock;
	union {
		struct list_head head;
		struct list_head task_list;
	};
};
typedef struct wait_queue_head wait_queue_head_t;

#define WQ_FLAG_EXCLUSIVE 0x01
#define __WAIT_QUEUE_HEAD_INITIALIZER(name) { .lock = { { 0 } }, .head = { &(name).head, &(name).head } }
#define DECLARE_WAIT_QUEUE_HEAD(name) struct wait_queue_head name = __WAIT_QUEUE_HEAD_INITIALIZER(name)
#define DECLARE_WAIT_QUEUE_HEAD_ONSTACK(name) DECLARE_WAIT_QUEUE_HEAD(name)
#define DECLARE_WAITQUEUE(name, task) \
	struct wait_queue_entry name = { .private = (task), .func = default_wake_function }
#define DEFINE_WAIT(name) \
	struct wait_queue_entry name = { .private = current, .func = autoremove_wake_function, \
					 .entry = LIST_HEAD_INIT((name).entry) }

static inline void init_waitqueue_head(struct wait_queue_head *queue)
{
	spin_lock_init(&queue->lock);
	INIT_LIST_HEAD(&queue->head);
}

static inline void init_waitqueue_entry(struct wait_queue_entry *entry, struct task_struct *task);
static inline int waitqueue_active(struct wait_queue_head *queue) { return !list_empty(&queue->head); }

extern int default_wake_function(struct wait_queue_entry *entry, unsigned int mode, int flags, void *key);
extern int autoremove_wake_function(struct wait_queue_entry *entry, unsigned int mode, int flags, void *key);
extern void add_wait_queue(struct wait_queue_head *queue, struct wait_queue_entry *entry);
extern void add_wait_queue_exclusive(struct wait_queue_head *queue, struct wait_queue_entry *entry);
extern void remove_wait_queue(struct wait_queue_head *queue, struct wait_queue_entry *entry);
extern void prepare_to_wait(struct wait_queue_head *queue, struct wait_queue_entry *entry, int state);
extern void prepare_to_wait_exclusive(struct wait_queue_head *queue, struct wait_queue_entry *entry, int state);
extern void finish_wait(struct wait_queue_head *queue, struct wait_queue_entry *entry);
extern void __wake_up(struct wait_queue_head *queue, unsigned int mode, int nr, void *key);
extern void interruptible_sleep_on(struct wait_queue_head *queue);
extern long interruptible_sleep_on_timeout(struct wait_queue_head *queue, long timeout);
extern void sleep_on(struct wait_queue_head *queue);

static inline void init_waitqueue_entry(struct wait_queue_entry *entry, struct task_struct *task)
{
	entry->flags = 0;
	entry->private = task;
	entry->func = default_wake_function;
}

#define wake_up(queue) __wake_up(queue, TASK_NORMAL, 1, NULL)
#define wake_up_nr(queue, nr) __wake_up(queue, TASK_NORMAL, nr, NULL)
#define wake_up_all(queue) __wake_up(queue, TASK_NORMAL, 0, NULL)
#define wake_up_interruptible(queue) __wake_up(queue, TASK_INTERRUPTIBLE, 1, NULL)
#define wake_up_interruptible_nr(queue, nr) __wake_up(queue, TASK_INTERRUPTIBLE, nr, NULL)
#define wake_up_interruptible_all(queue) __wake_up(queue, TASK_INTERRUPTIBLE, 0, NULL)
#define wake_up_interruptible_sync(queue) wake_up_interruptible(queue)
/* With the events that poll() is told of. */
#define poll_to_key(mask) ((void *)(unsigned long)(__poll_t)(mask))
#define key_to_poll(key) ((__poll_t)(unsigned long)(key))
#define wake_up_poll(queue, mask) __wake_up(queue, TASK_NORMAL, 1, poll_to_key(mask))
#define wake_up_interruptible_poll(queue, mask) __wake_up(queue, TASK_INTERRUPTIBLE, 1, poll_to_key(mask))
#define wake_up_interruptible_sync_poll(queue, mask) wake_up_interruptible_poll(queue, mask)
#define wake_up_sync(queue) wake_up(queue)

/*
 * What is left of the time when the condition holds, at least 1; 0 when it does not in time, -ERESTARTSYS when a signal
 * came first that ends such a sleep. Once the condition held it is not evaluated again: it may take what it waits for.
 */
#define __kapi_wait(queue, condition, state, exclusive, timeout, sleep) ({ \
	long __kapi_left = (timeout); \
	bool __kapi_holds, __kapi_signal = false; \
	might_sleep(); \
	__kapi_holds = !!(condition); \
	if (!__kapi_holds) { \
		DEFINE_WAIT(__kapi_wait); \
		for (;;) { \
			if (exclusive) \
				prepare_to_wait_exclusive(&(queue), &__kapi_wait, state); \
			else \
				prepare_to_wait(&(queue), &__kapi_wait, state); \
			__kapi_holds = !!(condition); \
			if (__kapi_holds || !__kapi_left) \
				break; \
			__kapi_signal = signal_pending_state(state, current); \
			if (__kapi_signal) \
				break; \
			sleep; \
		} \
		finish_wait(&(queue), &__kapi_wait); \
	} \
	__kapi_holds ? (__kapi_left ?: 1) : __kapi_signal ? -ERESTARTSYS : 0; })
#define __kapi_wait_time(queue, condition, state, timeout) \
	__kapi_wait(queue, condition, state, 0, timeout, __kapi_left = schedule_timeout(__kapi_left))
#define __kapi_wait_ever(queue, condition, state, exclusive, sleep) ({ \
	long __kapi_result = __kapi_wait(queue, condition, state, exclusive, 1, sleep); \
	__kapi_result < 0 ? (int)__kapi_result : 0; })

#define wait_event(queue, condition) ((void)__kapi_wait_ever(queue, condition, TASK_UNINTERRUPTIBLE, 0, schedule()))
#define io_wait_event(queue, condition) wait_event(queue, condition)
#define wait_event_interruptible(queue, condition) \
	__kapi_wait_ever(queue, condition, TASK_INTERRUPTIBLE, 0, schedule())
#define wait_event_killable(queue, condition) __kapi_wait_ever(queue, condition, TASK_KILLABLE, 0, schedule())
#define wait_event_idle(queue, condition) wait_event(queue, condition)
#define wait_event_freezable(queue, condition) wait_event_interruptible(queue, condition)
#define wait_event_timeout(queue, condition, timeout) \
	__kapi_wait_time(queue, condition, TASK_UNINTERRUPTIBLE, timeout)
#define wait_event_idle_timeout(queue, condition, timeout) wait_event_timeout(queue, condition, timeout)
#define wait_event_interruptible_timeout(queue, condition, timeout) \
	__kapi_wait_time(queue, condition, TASK_INTERRUPTIBLE, timeout)
#define wait_event_killable_timeout(queue, condition, timeout) \
	__kapi_wait_time(queue, condition, TASK_KILLABLE, timeout)
#define wait_event_interruptible_exclusive(queue, condition) \
	__kapi_wait_ever(queue, condition, TASK_INTERRUPTIBLE, 1, schedule())
#define wait_event_killable_exclusive(queue, condition) \
	__kapi_wait_ever(queue, condition, TASK_KILLABLE, 1, schedule())
#define wait_event_cmd(queue, condition, before, after) \
	((void)__kapi_wait_ever(queue, condition, TASK_UNINTERRUPTIBLE, 0, do { \
		before; \
		schedule(); \
		after; \
	} while (0)))

#endif
