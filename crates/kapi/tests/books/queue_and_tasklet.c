/* A work queue of the module's own, and a tasklet that init starts and exit ends. */
#include <linux/delay.h>
#include <linux/init.h>
#include <linux/interrupt.h>
#include <linux/module.h>
#include <linux/printk.h>
#include <linux/workqueue.h>

#ifndef DECLARE_TASKLET_OLD
#define DECLARE_TASKLET_OLD(arg1, arg2) DECLARE_TASKLET(arg1, arg2, 0L)
#endif

static struct workqueue_struct *queue;
static struct work_struct work;
static DECLARE_WORK(by_declaration, NULL);
static atomic_t ran = ATOMIC_INIT(0);
static int tasklet_softirq;

static void work_handler(struct work_struct *data)
{
	pr_info("work handler function, atomic %d\n", in_atomic());
	msleep(1);
	atomic_inc(&ran);
}

static void tasklet_fn(unsigned long data)
{
	tasklet_softirq = in_softirq() != 0;
	mdelay(1);
	atomic_inc(&ran);
}

static DECLARE_TASKLET_OLD(mytask, tasklet_fn);

static void callback(struct tasklet_struct *t)
{
	atomic_inc(&ran);
}

static DECLARE_TASKLET_DISABLED(later, callback);

static int __init sched_init(void)
{
	queue = alloc_workqueue("HELLOWORLD", WQ_UNBOUND, 1);
	if (!queue)
		return -ENOMEM;
	INIT_WORK(&work, work_handler);
	INIT_WORK(&by_declaration, work_handler);
	if (!queue_work(queue, &work) || !queue_work_on(0, queue, &by_declaration))
		pr_info("they were queued before\n");
	flush_workqueue(queue);
	tasklet_schedule(&later);
	tasklet_schedule(&mytask);
	mdelay(1);
	tasklet_enable(&later);
	tasklet_kill(&later);
	pr_info("init continues\n");
	return 0;
}

static void __exit sched_exit(void)
{
	tasklet_kill(&mytask);
	drain_workqueue(queue);
	destroy_workqueue(queue);
	pr_info("ran %d, tasklet in a softirq %d\n", atomic_read(&ran), tasklet_softirq);
}

module_init(sched_init);
module_exit(sched_exit);
MODULE_LICENSE("GPL");
