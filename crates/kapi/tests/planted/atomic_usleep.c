// sleep in atomic context: usleep_range() may sleep, in an RCU read-side section
#include <linux/module.h>
#include <linux/delay.h>
#include <linux/rcupdate.h>

static int __init begin(void)
{
	rcu_read_lock();
	usleep_range(10, 20); // in
	rcu_read_unlock();
	return 0;
}

static void __exit end(void)
{
}

module_init(begin);
module_exit(end);
MODULE_LICENSE("GPL");
