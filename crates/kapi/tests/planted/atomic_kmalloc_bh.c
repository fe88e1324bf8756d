// sleep in atomic context: kmalloc() with GFP_KERNEL may sleep
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/interrupt.h>

static int __init begin(void)
{
	void *volatile p;

	local_bh_disable();
	p = kmalloc(64, GFP_KERNEL); // in
	local_bh_enable();
	kfree(p);
	return 0;
}

static void __exit end(void)
{
}

module_init(begin);
module_exit(end);
MODULE_LICENSE("GPL");
