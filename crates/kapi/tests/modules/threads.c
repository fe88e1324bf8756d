/* Threads, wait queues, completions, timers, works and tasklets, mostly in the forms of 2.6. */
#include <linux/module.h>
#include <linux/kthread.h>
#include <linux/completion.h>
#include <linux/delay.h>
#include <linux/wait.h>
#include <linux/timer.h>
#include <linux/workqueue.h>
#include <linux/interrupt.h>
#include <linux/semaphore.h>
#include <linux/spinlock.h>
#include <linux/time.h>

static spinlock_t lock = SPIN_LOCK_UNLOCKED;
static DECLARE_MUTEX(sem);
static DECLARE_COMPLETION(done);
static DECLARE_WAIT_QUEUE_HEAD(queue);
static struct timer_list timer;
static struct task_struct *worker;
static int ready, ticks, shared;

static void on_timer(unsigned long data)
{
	ticks += (int)data;
	ready = 1;
	wake_up_interruptible(&queue);
}

static void do_work(struct work_struct *work)
{
	spin_lock(&lock);
	shared += 10;
	spin_unlock(&lock);
	complete(&done);
}
static DECLARE_WORK(work, do_work);

static void do_tasklet(unsigned long data)
{
	shared += (int)data;
}
DECLARE_TASKLET(tasklet, do_tasklet, 100);

static int thread_fn(void *data)
{
	int rounds = 0;

	while (!kthread_should_stop()) {
		down(&sem);
		rounds++;
		up(&sem);
		set_current_state(TASK_INTERRUPTIBLE);
		schedule_timeout(HZ / 50);
	}
	return rounds > 0 ? 0 : -1;
}

static int __init threads_init(void)
{
	struct timeval before, after;
	unsigned long flags;

	do_gettimeofday(&before);
	worker = kthread_run(thread_fn, NULL, "worker/%d", 0);
	if (IS_ERR(worker))
		return PTR_ERR(worker);
	init_timer(&timer);
	timer.function = on_timer;
	timer.data = 7;
	timer.expires = jiffies + HZ / 20;
	add_timer(&timer);
	wait_event_interruptible(queue, ready);
	schedule_work(&work);
	wait_for_completion(&done);
	tasklet_schedule(&tasklet);
	msleep(20);
	spin_lock_irqsave(&lock, flags);
	printk(KERN_INFO "threads: ticks %d, shared %d\n", ticks, shared);
	spin_unlock_irqrestore(&lock, flags);
	do_gettimeofday(&after);
	printk(KERN_INFO "threads: %s is alive, %s\n", worker->comm,
	       after.tv_sec * 1000000 + after.tv_usec - before.tv_sec * 1000000 - before.tv_usec >=
	       50000 ? "time passed" : "no time passed");
	return 0;
}

static void __exit threads_exit(void)
{
	del_timer_sync(&timer);
	tasklet_kill(&tasklet);
	printk(KERN_INFO "threads: worker returned %d\n", kthread_stop(worker));
}
module_init(threads_init);
module_exit(threads_exit);
MODULE_LICENSE("GPL");
