// sleep in atomic context: kmalloc() with GFP_KERNEL may sleep, under a spinlock
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/spinlock.h>

static DEFINE_SPINLOCK(lock);

static int __init begin(void)
{
	unsigned long flags;
	void *volatile p;

	spin_lock_irqsave(&lock, flags);
	p = kmalloc(64, GFP_KERNEL); // in
	spin_unlock_irqrestore(&lock, flags);
	kfree(p);
	return 0;
}

static void __exit end(void)
{
}

module_init(begin);
module_exit(end);
MODULE_LICENSE("GPL");
