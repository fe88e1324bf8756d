// SPDX-License-Identifier: MIT OR Apache-2.0
// RCU callbacks, and memory that is freed after a grace period: one thread, started when first needed.
#include "host.h"
#include <linux/kthread.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>

/* RCU callbacks, in order, by a thread that waits for a grace period before each batch. */
static struct callback_head *rcu_first, **rcu_last = &rcu_first, *rcu_batch;
static DEFINE_SPINLOCK(rcu_lock);
static volatile unsigned int rcu_queued, rcu_finished, rcu_hurried;
/* The least that a grace period lasts, unless somebody waits for it: longer than what exit does behind call_rcu(). */
#define GRACE_NS (2 * NSEC_PER_MSEC)
#define GRACE_IN_EXIT_NS (100 * NSEC_PER_MSEC)

static void finish_callbacks(unsigned int n)
{
	__atomic_fetch_add(&rcu_finished, n, __ATOMIC_SEQ_CST);
	kapi_futex_wake(&rcu_finished, INT_MAX);
}

static struct callback_head *next_of_batch(void)
{
	struct callback_head *head;

	spin_lock(&rcu_lock);
	head = rcu_batch;
	if (head)
		rcu_batch = head->next;
	spin_unlock(&rcu_lock);
	return head;
}

static int rcu_thread(void *data)
{
	for (;;) {
		struct callback_head *head;

		while (rcu_queued == rcu_finished)
			kapi_futex_wait(&rcu_queued, rcu_finished, -1);
		kapi_futex_wait(&rcu_hurried, 0, READ_ONCE(kapi_exits) ? GRACE_IN_EXIT_NS : GRACE_NS);
		spin_lock(&rcu_lock);
		rcu_hurried = 0;
		rcu_batch = rcu_first;
		rcu_first = NULL;
		rcu_last = &rcu_first;
		spin_unlock(&rcu_lock);
		synchronize_rcu();
		while ((head = next_of_batch())) {
			if (kapi_check > 1)
				kapi_gone(head);
			kapi_softirq_enter();
			head->func(head);
			kapi_softirq_exit();
			finish_callbacks(1);
		}
	}
	return 0;
}

void call_rcu(struct rcu_head *head, rcu_callback_t func)
{
	static volatile unsigned int started;
	unsigned long flags;

	head->func = func;
	head->next = NULL;
	if (kapi_check > 1 && !kapi_is_own(func))
		kapi_stands_by(head, KAPI_CALLBACK, func);
	spin_lock_irqsave(&rcu_lock, flags);
	*rcu_last = head;
	rcu_last = &head->next;
	rcu_queued++;
	spin_unlock_irqrestore(&rcu_lock, flags);
	if (!xchg(&started, 1))
		kthread_run(rcu_thread, NULL, "rcu_sched");
	kapi_futex_wake(&rcu_queued, INT_MAX);
}

/* Lets the thread begin with what is queued. */
static void hurry(void)
{
	xchg(&rcu_hurried, 1);
	kapi_futex_wake(&rcu_hurried, INT_MAX);
}

void rcu_barrier(void)
{
	unsigned int goal = rcu_queued, done;

	might_sleep();
	while ((int)((done = rcu_finished) - goal) < 0) {
		hurry();
		kapi_futex_wait(&rcu_finished, done, -1);
	}
}

static unsigned int take_out(struct callback_head **at, unsigned long start, unsigned long bytes)
{
	unsigned int n = 0;

	while (*at)
		if ((unsigned long)*at - start < bytes) {
			*at = (*at)->next;
			n++;
		} else {
			at = &(*at)->next;
		}
	return n;
}

/* The memory goes: so do the callbacks whose heads lie in it. */
void kapi_forget_callbacks(unsigned long start, unsigned long bytes)
{
	unsigned long flags;
	unsigned int n;

	if (!READ_ONCE(rcu_first) && !READ_ONCE(rcu_batch))
		return;
	spin_lock_irqsave(&rcu_lock, flags);
	n = take_out(&rcu_batch, start, bytes) + take_out(&rcu_first, start, bytes);
	for (rcu_last = &rcu_first; *rcu_last; rcu_last = &(*rcu_last)->next)
		;
	spin_unlock_irqrestore(&rcu_lock, flags);
	if (n)
		finish_callbacks(n);
}

/* Blocks that may wait for a grace period. */
#define KFREE_RCU_MAX 4096
/* How long the end waits for them. */
#define SETTLE_MS_MAX 2000

/* A head inside what is to be freed; the callback finds the start in a record beside. */
struct free_later {
	struct rcu_head head;
	void *ptr;
	/* NULL: whatever kvfree() frees. */
	struct kmem_cache *cache;
	/* Who gave it to be freed. */
	unsigned long site;
};

/* Blocks that wait. */
static unsigned int frees_queued;

static void free_now(struct rcu_head *head)
{
	struct free_later *later = container_of(head, struct free_later, head);

	if (later->cache)
		kapi_cache_free_for(later->cache, later->ptr, later->site);
	else
		kapi_kvfree_for(later->ptr, later->site);
	kapi_free(later, sizeof(*later));
	__atomic_fetch_sub(&frees_queued, 1, __ATOMIC_SEQ_CST);
}

static bool free_later(struct kmem_cache *cache, void *ptr)
{
	struct free_later *later = kapi_alloc(sizeof(*later));

	if (!later)
		return false;
	later->ptr = ptr;
	later->cache = cache;
	later->site = kapi_module_site();
	__atomic_fetch_add(&frees_queued, 1, __ATOMIC_SEQ_CST);
	call_rcu(&later->head, free_now);
	return true;
}

/* Frees an object of a cache when no reader can hold it any more; until then it stays as it is. */
void kapi_cache_free_rcu(struct kmem_cache *cache, void *object)
{
	if (free_later(cache, object))
		return;
	synchronize_rcu();
	kmem_cache_free(cache, object);
}

void kvfree_call_rcu(struct rcu_head *head, void *ptr)
{
	if (head && free_later(NULL, ptr)) {
		/* Who frees faster than grace periods pass has to wait for them. */
		if (rcu_queued - rcu_finished > KFREE_RCU_MAX && preemptible() && !kapi_rcu_read_held())
			rcu_barrier();
		return;
	}
	synchronize_rcu();
	kvfree(ptr);
}

/* After exit: what was given to kfree_rcu() goes without the module, unless a reader of its own is left. */
void kapi_settle_frees(void)
{
	int turn;

	for (turn = 0; turn < SETTLE_MS_MAX && READ_ONCE(frees_queued); turn++) {
		hurry();
		kapi_futex_wait(&frees_queued, READ_ONCE(frees_queued), NSEC_PER_MSEC);
	}
}

/* Blocks wait in the callbacks' queue. */
void kvfree_rcu_barrier(void)
{
	if (rcu_queued != rcu_finished)
		rcu_barrier();
}
