// leak: 100 bytes in 1 blocks are live after exit
#include <linux/module.h>
#include <linux/slab.h>

static void *volatile kept;

static int __init begin(void)
{
	kept = kmalloc(100, GFP_KERNEL); // allocated by
	return 0;
}

static void __exit end(void)
{
}

module_init(begin);
module_exit(end);
MODULE_LICENSE("GPL");
