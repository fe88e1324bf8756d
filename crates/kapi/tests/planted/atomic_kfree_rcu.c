// sleep in atomic context: synchronize_rcu() may sleep, under a spinlock
#include <linux/module.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/spinlock.h>

static DEFINE_SPINLOCK(lock);
static void *block;

static int __init begin(void)
{
	block = kmalloc(100, GFP_KERNEL);
	if (!block)
		return -ENOMEM;
	spin_lock(&lock);
	kfree_rcu_mightsleep(block); // in
	spin_unlock(&lock);
	return 0;
}

static void __exit end(void)
{
}

module_init(begin);
module_exit(end);
MODULE_LICENSE("GPL");
