// sleep in atomic context: kmalloc() with GFP_KERNEL may sleep, under a spinlock
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/spinlock.h>

static DEFINE_RWLOCK(lock);

static int __init begin(void)
{
	void *volatile p;

	read_lock(&lock);
	p = kmalloc(64, GFP_KERNEL); // in
	read_unlock(&lock);
	kfree(p);
	return 0;
}

static void __exit end(void)
{
}

module_init(begin);
module_exit(end);
MODULE_LICENSE("GPL");
