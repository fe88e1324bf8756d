// sleep in atomic context: cancel_work_sync() may sleep, under a spinlock
#include <linux/module.h>
#include <linux/workqueue.h>
#include <linux/spinlock.h>

static void nothing(struct work_struct *work)
{
}

static DEFINE_SPINLOCK(lock);
static DECLARE_WORK(work, nothing);

static int __init begin(void)
{
	spin_lock(&lock);
	cancel_work_sync(&work); // in
	spin_unlock(&lock);
	return 0;
}

static void __exit end(void)
{
}

module_init(begin);
module_exit(end);
MODULE_LICENSE("GPL");
