// SPDX-License-Identifier: MIT OR Apache-2.0
// What waits: wait queues, completions, mutexes, semaphores. All of it uses the tasks of sched.c.
#include "host.h"
#include <linux/completion.h>
#include <linux/kernel.h>
#include <linux/mutex.h>
#include <linux/rwsem.h>
#include <linux/semaphore.h>
#include <linux/smp_lock.h>
#include <linux/wait.h>

/* How long a sleep on a lock lasts before it looks for a signal. */
#define SIGNAL_LOOK_NS (10 * NSEC_PER_MSEC)

int default_wake_function(struct wait_queue_entry *entry, unsigned int mode, int flags, void *key)
{
	return wake_up_state(entry->private, mode);
}

int autoremove_wake_function(struct wait_queue_entry *entry, unsigned int mode, int flags, void *key)
{
	int woken = default_wake_function(entry, mode, flags, key);

	if (woken)
		list_del_init(&entry->entry);
	return woken;
}

static void enqueue(struct wait_queue_head *queue, struct wait_queue_entry *entry, unsigned int exclusive)
{
	unsigned long flags;

	spin_lock_irqsave(&queue->lock, flags);
	entry->flags = exclusive;
	if (!entry->entry.next || list_empty(&entry->entry)) {
		if (exclusive)
			list_add_tail(&entry->entry, &queue->head);
		else
			list_add(&entry->entry, &queue->head);
	}
	spin_unlock_irqrestore(&queue->lock, flags);
}

void add_wait_queue(struct wait_queue_head *queue, struct wait_queue_entry *entry)
{
	INIT_LIST_HEAD(&entry->entry);
	enqueue(queue, entry, 0);
}

void add_wait_queue_exclusive(struct wait_queue_head *queue, struct wait_queue_entry *entry)
{
	INIT_LIST_HEAD(&entry->entry);
	enqueue(queue, entry, WQ_FLAG_EXCLUSIVE);
}

void remove_wait_queue(struct wait_queue_head *queue, struct wait_queue_entry *entry)
{
	unsigned long flags;

	spin_lock_irqsave(&queue->lock, flags);
	list_del_init(&entry->entry);
	spin_unlock_irqrestore(&queue->lock, flags);
}

void prepare_to_wait(struct wait_queue_head *queue, struct wait_queue_entry *entry, int state)
{
	enqueue(queue, entry, 0);
	set_current_state(state);
}

void prepare_to_wait_exclusive(struct wait_queue_head *queue, struct wait_queue_entry *entry, int state)
{
	enqueue(queue, entry, WQ_FLAG_EXCLUSIVE);
	set_current_state(state);
}

void finish_wait(struct wait_queue_head *queue, struct wait_queue_entry *entry)
{
	set_current_state(TASK_RUNNING);
	remove_wait_queue(queue, entry);
}

static void wake_locked(struct wait_queue_head *queue, unsigned int mode, int nr, void *key)
{
	struct wait_queue_entry *entry, *next;

	list_for_each_entry_safe(entry, next, &queue->head, entry) {
		unsigned int exclusive = entry->flags & WQ_FLAG_EXCLUSIVE;

		if (entry->func(entry, mode, 0, key) && exclusive && !--nr)
			break;
	}
}

void __wake_up(struct wait_queue_head *queue, unsigned int mode, int nr, void *key)
{
	unsigned long flags;

	spin_lock_irqsave(&queue->lock, flags);
	wake_locked(queue, mode, nr, key);
	spin_unlock_irqrestore(&queue->lock, flags);
}

static long sleep_on_state(struct wait_queue_head *queue, int state, long timeout)
{
	DEFINE_WAIT(wait);

	prepare_to_wait(queue, &wait, state);
	timeout = schedule_timeout(timeout);
	finish_wait(queue, &wait);
	return timeout;
}

void interruptible_sleep_on(struct wait_queue_head *queue)
{
	sleep_on_state(queue, TASK_INTERRUPTIBLE, MAX_SCHEDULE_TIMEOUT);
}

long interruptible_sleep_on_timeout(struct wait_queue_head *queue, long timeout)
{
	return sleep_on_state(queue, TASK_INTERRUPTIBLE, timeout);
}

void sleep_on(struct wait_queue_head *queue) { sleep_on_state(queue, TASK_UNINTERRUPTIBLE, MAX_SCHEDULE_TIMEOUT); }

bool try_wait_for_completion(struct completion *x)
{
	unsigned long flags;
	bool done;

	spin_lock_irqsave(&x->wait.lock, flags);
	done = x->done != 0;
	if (done && x->done != UINT_MAX)
		x->done--;
	spin_unlock_irqrestore(&x->wait.lock, flags);
	return done;
}

bool completion_done(struct completion *x) { return READ_ONCE(x->done) != 0; }
void wait_for_completion(struct completion *x) { wait_event(x->wait, try_wait_for_completion(x)); }

int wait_for_completion_interruptible(struct completion *x)
{
	return wait_event_interruptible(x->wait, try_wait_for_completion(x));
}

int wait_for_completion_killable(struct completion *x)
{
	return wait_event_killable(x->wait, try_wait_for_completion(x));
}

unsigned long wait_for_completion_timeout(struct completion *x, unsigned long timeout)
{
	return (unsigned long)wait_event_timeout(x->wait, try_wait_for_completion(x), (long)timeout);
}

long wait_for_completion_interruptible_timeout(struct completion *x, unsigned long timeout)
{
	return wait_event_interruptible_timeout(x->wait, try_wait_for_completion(x), (long)timeout);
}

/* Wakes under the lock: once that is dropped, a waiter's stack with the completion may be gone. */
static void add_completions(struct completion *x, unsigned int count)
{
	unsigned long flags;

	spin_lock_irqsave(&x->wait.lock, flags);
	if (count == UINT_MAX || x->done == UINT_MAX)
		x->done = UINT_MAX;
	else
		x->done += count;
	wake_locked(&x->wait, TASK_NORMAL, 0, NULL);
	spin_unlock_irqrestore(&x->wait.lock, flags);
}

void complete(struct completion *x) { add_completions(x, 1); }
void complete_all(struct completion *x) { add_completions(x, UINT_MAX); }

void complete_and_exit(struct completion *x, long code)
{
	if (x)
		complete(x);
	do_exit(code);
}

int mutex_trylock(struct mutex *lock)
{
	unsigned int free = 0;

	if (!try_cmpxchg(&lock->word, &free, 1))
		return 0;
	lock->owner = current;
	kapi_lock_taken(lock, 0, kapi_module_site());
	return 1;
}

/* Who waits in a state that signals end looks for one in between. */
static int mutex_take(struct mutex *lock, unsigned int how, unsigned int state)
{
	s64 limit = state == TASK_UNINTERRUPTIBLE ? -1 : SIGNAL_LOOK_NS;
	unsigned int free = 0;

	if (lock->owner == current)
		WARN(1, "mutex: %s takes a lock that it holds already\n", current->comm);
	kapi_lock_wanted(lock, how, kapi_module_site());
	if (!try_cmpxchg(&lock->word, &free, 1))
		while (xchg(&lock->word, 2) != 0) {
			if (signal_pending_state(state, current))
				return -EINTR;
			kapi_futex_wait(&lock->word, 2, limit);
		}
	lock->owner = current;
	kapi_lock_taken(lock, how, kapi_module_site());
	return 0;
}

int kapi_mutex_lock(struct mutex *lock, unsigned int how, unsigned int state)
{
	might_sleep();
	return mutex_take(lock, how, state);
}

void mutex_lock(struct mutex *lock)
{
	might_sleep();
	mutex_take(lock, 0, TASK_UNINTERRUPTIBLE);
}

int mutex_lock_interruptible(struct mutex *lock)
{
	might_sleep();
	return mutex_take(lock, 0, TASK_INTERRUPTIBLE);
}

int mutex_lock_killable(struct mutex *lock)
{
	might_sleep();
	return mutex_take(lock, 0, TASK_KILLABLE);
}

void mutex_unlock(struct mutex *lock)
{
	if (WARN(!lock->word, "mutex: unlock of a lock that nobody holds\n"))
		kapi_not_locked();
	else
		kapi_lock_given(lock);
	lock->owner = NULL;
	if (xchg(&lock->word, 0) == 2)
		kapi_futex_wake(&lock->word, 1);
}

int down_trylock(struct semaphore *sem)
{
	unsigned int count = READ_ONCE(sem->count);

	while (count)
		if (try_cmpxchg(&sem->count, &count, count - 1))
			return 0;
	return 1;
}

static int sem_take(struct semaphore *sem, long timeout, unsigned int state)
{
	u64 end = ktime_get_ns() + (u64)timeout * (NSEC_PER_SEC / HZ);
	int error = 0;

	__atomic_fetch_add(&sem->waiters, 1, __ATOMIC_SEQ_CST);
	while (down_trylock(sem)) {
		s64 left = timeout == MAX_SCHEDULE_TIMEOUT ? -1 : (s64)(end - ktime_get_ns());

		if (timeout != MAX_SCHEDULE_TIMEOUT && left <= 0) {
			error = -ETIME;
			break;
		}
		if (signal_pending_state(state, current)) {
			error = -EINTR;
			break;
		}
		if (state != TASK_UNINTERRUPTIBLE && (left < 0 || left > SIGNAL_LOOK_NS))
			left = SIGNAL_LOOK_NS;
		kapi_futex_wait(&sem->count, 0, left);
	}
	__atomic_fetch_sub(&sem->waiters, 1, __ATOMIC_SEQ_CST);
	return error;
}

int down_timeout(struct semaphore *sem, long timeout)
{
	might_sleep();
	return sem_take(sem, timeout, TASK_UNINTERRUPTIBLE);
}

void down(struct semaphore *sem)
{
	might_sleep();
	sem_take(sem, MAX_SCHEDULE_TIMEOUT, TASK_UNINTERRUPTIBLE);
}

int down_interruptible(struct semaphore *sem)
{
	might_sleep();
	return sem_take(sem, MAX_SCHEDULE_TIMEOUT, TASK_INTERRUPTIBLE);
}

int down_killable(struct semaphore *sem)
{
	might_sleep();
	return sem_take(sem, MAX_SCHEDULE_TIMEOUT, TASK_KILLABLE);
}

void up(struct semaphore *sem)
{
	__atomic_fetch_add(&sem->count, 1, __ATOMIC_SEQ_CST);
	if (READ_ONCE(sem->waiters))
		kapi_futex_wake(&sem->count, 1);
}

static void rwsem_wait(struct rw_semaphore *sem, int (*attempt)(volatile unsigned int *))
{
	while (!attempt(&sem->word)) {
		unsigned int word = READ_ONCE(sem->word);

		if (word)
			kapi_futex_wait(&sem->word, word, NSEC_PER_MSEC);
	}
}

static int read_try(volatile unsigned int *word) { return kapi_read_try(word); }
static int write_try(volatile unsigned int *word) { return kapi_write_try(word); }

static int taken(struct rw_semaphore *sem, int got, unsigned long site)
{
	if (got)
		kapi_lock_taken(sem, 0, site);
	return got;
}

int down_read_trylock(struct rw_semaphore *sem) { return taken(sem, read_try(&sem->word), kapi_module_site()); }
int down_write_trylock(struct rw_semaphore *sem) { return taken(sem, write_try(&sem->word), kapi_module_site()); }

static void rwsem_take(struct rw_semaphore *sem, unsigned int how, int (*attempt)(volatile unsigned int *))
{
	unsigned long site = kapi_module_site();

	kapi_lock_wanted(sem, how, site);
	rwsem_wait(sem, attempt);
	kapi_lock_taken(sem, how, site);
}

/* A reader that comes behind a writer waits as a writer does. */
void kapi_down_read(struct rw_semaphore *sem, unsigned int how)
{
	might_sleep();
	rwsem_take(sem, how, read_try);
}

void down_read(struct rw_semaphore *sem)
{
	might_sleep();
	rwsem_take(sem, 0, read_try);
}

void kapi_down_write(struct rw_semaphore *sem, unsigned int how)
{
	might_sleep();
	rwsem_take(sem, how, write_try);
}

void down_write(struct rw_semaphore *sem)
{
	might_sleep();
	rwsem_take(sem, 0, write_try);
}

void down_read_non_owner(struct rw_semaphore *sem)
{
	might_sleep();
	rwsem_wait(sem, read_try);
}

void up_read_non_owner(struct rw_semaphore *sem)
{
	__atomic_fetch_sub(&sem->word, 1, __ATOMIC_RELEASE);
	kapi_futex_wake(&sem->word, INT_MAX);
}

void up_read(struct rw_semaphore *sem)
{
	kapi_lock_given(sem);
	up_read_non_owner(sem);
}

void up_write(struct rw_semaphore *sem)
{
	kapi_lock_given(sem);
	kapi_spin_release(&sem->word);
	kapi_futex_wake(&sem->word, INT_MAX);
}

/* It is held on, for reading. */
void downgrade_write(struct rw_semaphore *sem)
{
	__atomic_store_n(&sem->word, 1, __ATOMIC_RELEASE);
	kapi_futex_wake(&sem->word, INT_MAX);
}

static DEFINE_MUTEX(big_lock);
static int big_depth;

void lock_kernel(void)
{
	if (big_lock.owner != current)
		mutex_lock(&big_lock);
	big_depth++;
}

void unlock_kernel(void)
{
	if (!--big_depth)
		mutex_unlock(&big_lock);
}
