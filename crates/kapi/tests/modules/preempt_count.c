// SPDX-License-Identifier: MIT OR Apache-2.0
// What preempt_count() tells in each context: a spinlock, one with softirqs disabled, a timer and a tasklet.
#include <linux/completion.h>
#include <linux/interrupt.h>
#include <linux/module.h>
#include <linux/preempt.h>
#include <linux/spinlock.h>
#include <linux/timer.h>

static DEFINE_SPINLOCK(lock);
static DECLARE_COMPLETION(fired);
static unsigned int in_timer, in_tasklet;
static bool is_interrupt;

static void on_timer(struct timer_list *timer)
{
	in_timer = preempt_count();
	is_interrupt = in_interrupt() && in_softirq() && !in_task();
	complete(&fired);
}

static struct timer_list timer;

static void on_tasklet(unsigned long data)
{
	in_tasklet = preempt_count();
	complete(&fired);
}

static struct tasklet_struct tasklet;

static int __init preempt_count_init(void)
{
	unsigned int plain, locked, bh;
	bool bh_is_interrupt;

	plain = preempt_count();
	spin_lock(&lock);
	locked = preempt_count();
	spin_unlock(&lock);
	spin_lock_bh(&lock);
	bh = preempt_count();
	bh_is_interrupt = in_interrupt() && !in_serving_softirq();
	spin_unlock_bh(&lock);
	timer_setup(&timer, on_timer, 0);
	mod_timer(&timer, jiffies + 1);
	wait_for_completion(&fired);
	tasklet_init(&tasklet, on_tasklet, 0);
	tasklet_schedule(&tasklet);
	wait_for_completion(&fired);
	tasklet_kill(&tasklet);
	timer_delete_sync(&timer);
	pr_info("preempt_count: %x %x %x %d, timer %x %d, tasklet %x\n", plain, locked, bh, bh_is_interrupt, in_timer,
		is_interrupt, in_tasklet);
	return 0;
}

static void __exit preempt_count_exit(void) { }

module_init(preempt_count_init);
module_exit(preempt_count_exit);
MODULE_LICENSE("Dual MIT/GPL");
