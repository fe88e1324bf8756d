// sleep in atomic context: kmalloc() with GFP_KERNEL may sleep, in an RCU read-side section
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/rcupdate.h>

static int __init begin(void)
{
	void *volatile p;

	rcu_read_lock();
	p = kmalloc(64, GFP_KERNEL); // in
	rcu_read_unlock();
	kfree(p);
	return 0;
}

static void __exit end(void)
{
}

module_init(begin);
module_exit(end);
MODULE_LICENSE("GPL");
