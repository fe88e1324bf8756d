// write to freed memory
#include <linux/module.h>
#include <linux/slab.h>

static int *volatile first, *volatile second;

static int __init begin(void)
{
	first = kmalloc(64, GFP_KERNEL); // allocated by
	kfree(first); // freed before by
	first[3] = 7;
	second = kmalloc(64, GFP_KERNEL);
	kfree(second);
	return 0;
}

static void __exit end(void)
{
}

module_init(begin);
module_exit(end);
MODULE_LICENSE("GPL");
