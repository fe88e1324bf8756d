// sleep in atomic context: kthread_stop() may sleep, under a spinlock
#include <linux/module.h>
#include <linux/kthread.h>
#include <linux/spinlock.h>
#include <linux/delay.h>

static int waits(void *data)
{
	while (!kthread_should_stop())
		msleep(1);
	return 0;
}

static DEFINE_SPINLOCK(lock);

static int __init begin(void)
{
	struct task_struct *task = kthread_run(waits, NULL, "waits");

	if (IS_ERR(task))
		return PTR_ERR(task);
	spin_lock(&lock);
	kthread_stop(task); // in
	spin_unlock(&lock);
	return 0;
}

static void __exit end(void)
{
}

module_init(begin);
module_exit(end);
MODULE_LICENSE("GPL");
