// sleep in atomic context: synchronize_rcu() may sleep, under a spinlock
#include <linux/module.h>
#include <linux/rcupdate.h>
#include <linux/spinlock.h>

static DEFINE_SPINLOCK(lock);

static int __init begin(void)
{
	spin_lock(&lock);
	synchronize_rcu(); // in
	spin_unlock(&lock);
	return 0;
}

static void __exit end(void)
{
}

module_init(begin);
module_exit(end);
MODULE_LICENSE("GPL");
