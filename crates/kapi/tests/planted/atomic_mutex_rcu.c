// sleep in atomic context: mutex_lock() may sleep, in an RCU read-side section
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/rcupdate.h>

static DEFINE_MUTEX(mutex);

static int __init begin(void)
{
	rcu_read_lock();
	mutex_lock(&mutex); // in
	mutex_unlock(&mutex);
	rcu_read_unlock();
	return 0;
}

static void __exit end(void)
{
}

module_init(begin);
module_exit(end);
MODULE_LICENSE("GPL");
