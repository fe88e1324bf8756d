// SPDX-License-Identifier: MIT OR Apache-2.0
// Read-copy-update whose readers may sleep.
#include "host.h"
#include <linux/kernel.h>
#include <linux/sched.h>
#include <linux/srcu.h>

int init_srcu_struct(struct srcu_struct *ssp)
{
	memset(ssp, 0, sizeof(*ssp));
	mutex_init(&ssp->mutex);
	return 0;
}

int srcu_read_lock(struct srcu_struct *ssp)
{
	unsigned int index = ssp->current_index & 1;

	/* With full order: a later look of synchronize_srcu() sees it, or this reader sees what was done before that. */
	__atomic_fetch_add(&ssp->readers[index].counter, 1, __ATOMIC_SEQ_CST);
	return (int)index;
}

void srcu_read_unlock(struct srcu_struct *ssp, int index)
{
	WARN_ON_ONCE(index & ~1);
	WARN_ON(__atomic_sub_fetch(&ssp->readers[index & 1].counter, 1, __ATOMIC_SEQ_CST) < 0);
}

static void wait_for(struct srcu_struct *ssp, unsigned int index)
{
	while (__atomic_load_n(&ssp->readers[index].counter, __ATOMIC_SEQ_CST))
		schedule_timeout_uninterruptible(1);
}

/* Twice: a reader that took the index before it changed may count itself after the first look. */
void synchronize_srcu(struct srcu_struct *ssp)
{
	int turn;

	might_sleep();
	mutex_lock(&ssp->mutex);
	for (turn = 0; turn < 2; turn++) {
		unsigned int old = ssp->current_index & 1;

		wait_for(ssp, old ^ 1);
		__atomic_store_n(&ssp->current_index, old ^ 1, __ATOMIC_SEQ_CST);
		wait_for(ssp, old);
	}
	mutex_unlock(&ssp->mutex);
}

static void call_back(struct work_struct *work)
{
	struct srcu_struct *ssp = container_of(work, struct srcu_struct, work);
	struct rcu_head *head = xchg(&ssp->callbacks, NULL), *next, *first = NULL;

	if (!head)
		return;
	synchronize_srcu(ssp);
	/* In the order of the calls. */
	for (; head; head = next) {
		next = head->next;
		head->next = first;
		first = head;
	}
	for (; first; first = next) {
		next = first->next;
		local_bh_disable();
		first->func(first);
		local_bh_enable();
	}
}

/* Work that only knows its place once it is there. */
static struct work_struct *work_of(struct srcu_struct *ssp)
{
	if (!ssp->ready) {
		mutex_lock(&ssp->mutex);
		if (!ssp->ready)
			INIT_WORK(&ssp->work, call_back);
		smp_store_release(&ssp->ready, 1);
		mutex_unlock(&ssp->mutex);
	}
	return &ssp->work;
}

void call_srcu(struct srcu_struct *ssp, struct rcu_head *head, rcu_callback_t func)
{
	struct rcu_head *first;

	head->func = func;
	do {
		first = READ_ONCE(ssp->callbacks);
		head->next = first;
	} while (cmpxchg(&ssp->callbacks, first, head) != first);
	schedule_work(work_of(ssp));
}

void srcu_barrier(struct srcu_struct *ssp)
{
	if (ssp->ready)
		flush_work(&ssp->work);
}

void cleanup_srcu_struct(struct srcu_struct *ssp)
{
	if (WARN_ON(srcu_read_lock_held(ssp)))
		return;
	srcu_barrier(ssp);
}
