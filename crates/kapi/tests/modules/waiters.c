/* What has to hold when threads wait, wake and cancel at the same time. Each check prints one line. */
#include <linux/completion.h>
#include <linux/delay.h>
#include <linux/hrtimer.h>
#include <linux/interrupt.h>
#include <linux/kernel.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/sched/task.h>
#include <linux/slab.h>
#include <linux/timer.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

static int rounds = 2000;
module_param(rounds, int, 0);

/* A completion that was completed twice lets two waiters through. */
static void count_completions(void)
{
	DECLARE_COMPLETION_ONSTACK(twice);

	complete(&twice);
	complete(&twice);
	wait_for_completion(&twice);
	printk(KERN_INFO "waiters: completed twice, waited once, done %d\n", completion_done(&twice));
	printk(KERN_INFO "waiters: waited twice, none is left %d\n",
	       wait_for_completion_timeout(&twice, HZ) > 0 && !completion_done(&twice));
}

/* A condition that takes what it waits for takes it once. */
static void take_in_a_condition(void)
{
	DECLARE_WAIT_QUEUE_HEAD_ONSTACK(queue);
	int tokens = 3;

	wait_event(queue, tokens > 0 && tokens-- > 0);
	printk(KERN_INFO "waiters: %d of 3 tokens are left\n", tokens);
}

struct request {
	struct completion done;
	unsigned long mark;
};
static struct request *volatile posted;

static int answer(void *data)
{
	while (!kthread_should_stop()) {
		struct request *request = xchg(&posted, NULL);

		if (request)
			complete(&request->done);
		else
			cond_resched();
	}
	return 0;
}

static noinline unsigned long ask(void)
{
	struct request request = { .mark = 0x5ca1ab1e };

	init_completion(&request.done);
	smp_store_release(&posted, &request);
	wait_for_completion(&request.done);
	return request.mark;
}

static noinline unsigned long use_the_stack(void)
{
	volatile unsigned long words[64];
	unsigned long i, changed = 0;

	for (i = 0; i < 64; i++)
		words[i] = 0x1111 * i;
	for (i = 0; i < 64; i++)
		cpu_relax();
	for (i = 0; i < 64; i++)
		changed += words[i] != 0x1111 * i;
	return changed;
}

/* Once its waiter returned, nobody touches a completion on the stack. */
static void complete_on_a_stack(void)
{
	struct task_struct *thread = kthread_run(answer, NULL, "answer");
	unsigned long changed = 0;
	int i;

	for (i = 0; i < rounds; i++) {
		changed += ask() != 0x5ca1ab1e;
		changed += use_the_stack();
	}
	kthread_stop(thread);
	printk(KERN_INFO "waiters: the stack changed %lu times\n", changed);
}

static atomic_t worked = ATOMIC_INIT(0);
static struct delayed_work again;

static void count_work(struct work_struct *work)
{
	atomic_inc(&worked);
}
static DECLARE_WORK(plain, count_work);

static void schedule_from_timer(struct timer_list *timer)
{
	schedule_work(&plain);
}
static DEFINE_TIMER(timer, schedule_from_timer);

/* A timer's callback, which must not sleep, may schedule a work. */
static void schedule_where_sleeping_is_forbidden(void)
{
	mod_timer(&timer, jiffies + 1);
	while (!atomic_read(&worked))
		msleep(1);
	printk(KERN_INFO "waiters: the timer's work ran %d time\n", atomic_read(&worked));
}

static void run_again(struct work_struct *work)
{
	atomic_inc(&worked);
	schedule_delayed_work(&again, atomic_read(&worked) & 1);
}

/* After a cancellation a work that queues itself runs no more. */
static void cancel_what_runs_again(void)
{
	int before, i;

	INIT_DELAYED_WORK(&again, run_again);
	for (i = 0; i < 20; i++) {
		schedule_delayed_work(&again, i & 1);
		while (atomic_read(&worked) < 10 * i)
			cpu_relax();
		cancel_delayed_work_sync(&again);
		before = atomic_read(&worked);
		msleep(2);
		if (before != atomic_read(&worked) || delayed_work_pending(&again))
			break;
	}
	printk(KERN_INFO "waiters: cancelled %d times\n", i);
}

static DECLARE_COMPLETION(all_queued);

static int queue_it(void *data)
{
	int i;

	for (i = 0; i < rounds; i++) {
		queue_delayed_work(system_wq, data, i % 3);
		if (i % 5 == 0)
			cancel_delayed_work(data);
	}
	complete(&all_queued);
	return 0;
}

/* Threads may queue and cancel one delayed work at the same time. */
static void queue_from_two_threads(void)
{
	static struct delayed_work shared;

	INIT_DELAYED_WORK(&shared, count_work);
	kthread_run(queue_it, &shared, "queue/0");
	kthread_run(queue_it, &shared, "queue/1");
	wait_for_completion(&all_queued);
	wait_for_completion(&all_queued);
	cancel_delayed_work_sync(&shared);
	printk(KERN_INFO "waiters: queued by two, pending %d\n", delayed_work_pending(&shared));
}

static struct hrtimer ticker;
static atomic_t in_callback = ATOMIC_INIT(0);

static enum hrtimer_restart tick(struct hrtimer *t)
{
	atomic_inc(&in_callback);
	hrtimer_forward_now(t, ns_to_ktime(1000));
	atomic_dec(&in_callback);
	return HRTIMER_RESTART;
}

/* hrtimer_cancel() returns when the callback is done, and it does not start again. */
static void cancel_high_resolution_timers(void)
{
	int i, inside = 0;

	for (i = 0; i < rounds / 10; i++) {
		hrtimer_init(&ticker, CLOCK_MONOTONIC, HRTIMER_MODE_REL);
		ticker.function = tick;
		hrtimer_start(&ticker, ns_to_ktime(1000), HRTIMER_MODE_REL);
		udelay(i % 20);
		hrtimer_cancel(&ticker);
		inside += atomic_read(&in_callback) + hrtimer_active(&ticker);
	}
	printk(KERN_INFO "waiters: cancelled inside a callback %d times\n", inside);
}

static int leave(void *data)
{
	return 0;
}

/* A walk through the tasks ends, although tasks end meanwhile. All have ended before the module goes. */
static void walk_ending_tasks(void)
{
	struct task_struct *task, **ending;
	int i, seen = 0, n = rounds / 10;

	ending = kcalloc(n, sizeof(*ending), GFP_KERNEL);
	if (!ending)
		return;
	for (i = 0; i < n; i++) {
		ending[i] = kthread_create(leave, NULL, "leave/%d", i);
		if (IS_ERR(ending[i]))
			break;
		get_task_struct(ending[i]);
		wake_up_process(ending[i]);
		for_each_process(task)
			seen++;
	}
	while (i--) {
		kthread_stop(ending[i]);
		put_task_struct(ending[i]);
	}
	kfree(ending);
	printk(KERN_INFO "waiters: tasks %s\n", seen > 0 ? "were seen" : "were not seen");
}

static int __init waiters_init(void)
{
	count_completions();
	take_in_a_condition();
	complete_on_a_stack();
	schedule_where_sleeping_is_forbidden();
	cancel_what_runs_again();
	queue_from_two_threads();
	cancel_high_resolution_timers();
	walk_ending_tasks();
	return 0;
}

static void __exit waiters_exit(void)
{
	del_timer_sync(&timer);
}
module_init(waiters_init);
module_exit(waiters_exit);
MODULE_LICENSE("GPL");
