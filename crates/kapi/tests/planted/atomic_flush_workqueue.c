// sleep in atomic context: flush_workqueue() may sleep, in an RCU read-side section
#include <linux/module.h>
#include <linux/workqueue.h>
#include <linux/rcupdate.h>

static int __init begin(void)
{
	struct workqueue_struct *queue = alloc_workqueue("planted", 0, 1);

	if (!queue)
		return -ENOMEM;
	rcu_read_lock();
	flush_workqueue(queue); // in
	rcu_read_unlock();
	destroy_workqueue(queue);
	return 0;
}

static void __exit end(void)
{
}

module_init(begin);
module_exit(end);
MODULE_LICENSE("GPL");
