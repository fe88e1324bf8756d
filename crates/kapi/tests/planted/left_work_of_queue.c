// left behind: the work queue `events of mine` is still there
#include <linux/module.h>
#include <linux/workqueue.h>

static struct workqueue_struct *queue;

static int __init begin(void)
{
	queue = alloc_workqueue("events of mine", 0, 1); // in
	return queue ? 0 : -ENOMEM;
}

static void __exit end(void)
{
}

module_init(begin);
module_exit(end);
MODULE_LICENSE("GPL");
