// double free: freed twice
#include <linux/module.h>
#include <linux/slab.h>

static int __init begin(void)
{
	void *volatile p = kmalloc(64, GFP_KERNEL); // allocated by

	kfree(p); // freed before by
	kfree(p); // in
	return 0;
}

static void __exit end(void)
{
}

module_init(begin);
module_exit(end);
MODULE_LICENSE("GPL");
