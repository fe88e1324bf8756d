// sleep in atomic context: kmalloc() with GFP_KERNEL may sleep, under a spinlock, or with preemption disabled
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/preempt.h>

static int __init begin(void)
{
	void *volatile p;

	preempt_disable();
	p = kmalloc(64, GFP_KERNEL); // in
	preempt_enable();
	kfree(p);
	return 0;
}

static void __exit end(void)
{
}

module_init(begin);
module_exit(end);
MODULE_LICENSE("GPL");
