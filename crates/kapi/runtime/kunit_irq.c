// SPDX-License-Identifier: MIT OR Apache-2.0
// A test's function in a task, in a soft interrupt and in an interrupt at the same time.
#include <kunit/run-in-irq-context.h>
#include <linux/atomic.h>
#include <linux/hrtimer.h>
#include <linux/interrupt.h>
#include <linux/jiffies.h>
#include <linux/sched.h>

/* How long the timer waits between two interrupts. */
#define INTERVAL_NS 20000

/* One run: the function, and for each context its calls and those that failed. */
struct irq_test {
	bool (*func)(void *state);
	void *state;
	atomic_t calls[3], failed[3];
	struct hrtimer timer;
	struct tasklet_struct tasklet;
};

enum { TASK, SOFTIRQ, HARDIRQ };
static const char *const contexts[] = { "task", "softirq", "hardirq" };

static void call(struct irq_test *test, int context)
{
	if (!test->func(test->state))
		atomic_inc(&test->failed[context]);
	atomic_inc(&test->calls[context]);
}

static enum hrtimer_restart interrupt(struct hrtimer *timer)
{
	struct irq_test *test = container_of(timer, struct irq_test, timer);

	call(test, HARDIRQ);
	tasklet_schedule(&test->tasklet);
	hrtimer_forward_now(timer, ns_to_ktime(INTERVAL_NS));
	return HRTIMER_RESTART;
}

static void soft_interrupt(struct tasklet_struct *tasklet)
{
	call(container_of(tasklet, struct irq_test, tasklet), SOFTIRQ);
}

/* A machine with much to do may let a context wait for more than a second; each makes a call at least. */
static bool is_done(struct irq_test *test, int max, unsigned long end)
{
	int i;

	for (i = TASK; i <= HARDIRQ; i++)
		if (!atomic_read(&test->calls[i]))
			return false;
	return atomic_read(&test->calls[TASK]) >= max || time_after_eq(jiffies, end);
}

void kunit_run_irq_test(struct kunit *kunit, bool (*func)(void *), int max_iterations, void *state)
{
	struct irq_test test = { .func = func, .state = state };
	unsigned long end = jiffies + HZ;
	int i;

	tasklet_setup(&test.tasklet, soft_interrupt);
	hrtimer_setup(&test.timer, interrupt, CLOCK_MONOTONIC, HRTIMER_MODE_REL);
	hrtimer_start(&test.timer, ns_to_ktime(INTERVAL_NS), HRTIMER_MODE_REL);
	do {
		call(&test, TASK);
		cond_resched();
	} while (!is_done(&test, max_iterations, end));
	hrtimer_cancel(&test.timer);
	tasklet_kill(&test.tasklet);
	for (i = TASK; i <= HARDIRQ; i++)
		KUNIT_EXPECT_EQ_MSG(kunit, atomic_read(&test.failed[i]), 0, "calls failed in the context %s", contexts[i]);
}
