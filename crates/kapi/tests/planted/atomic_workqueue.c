// sleep in atomic context: alloc_workqueue() may sleep, under a spinlock
#include <linux/module.h>
#include <linux/workqueue.h>
#include <linux/spinlock.h>

static DEFINE_SPINLOCK(lock);
static struct workqueue_struct *queue;

static int __init begin(void)
{
	spin_lock(&lock);
	queue = alloc_workqueue("planted", 0, 1); // in
	spin_unlock(&lock);
	if (queue)
		destroy_workqueue(queue);
	return 0;
}

static void __exit end(void)
{
}

module_init(begin);
module_exit(end);
MODULE_LICENSE("GPL");
