// sleep in atomic context
#include <linux/module.h>
#include <linux/wait.h>
#include <linux/sched.h>
#include <linux/spinlock.h>

static DEFINE_SPINLOCK(lock);
static DECLARE_WAIT_QUEUE_HEAD(queue);

static int __init begin(void)
{
	spin_lock(&lock);
	wait_event_timeout(queue, false, 1); // in
	spin_unlock(&lock);
	return 0;
}

static void __exit end(void)
{
}

module_init(begin);
module_exit(end);
MODULE_LICENSE("GPL");
