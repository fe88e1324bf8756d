// invalid free of a pointer into a block: freed at byte 8 of the block
#include <linux/module.h>
#include <linux/slab.h>

static int __init begin(void)
{
	char *volatile p = kmalloc(64, GFP_KERNEL); // allocated by

	kfree(p + 8); // in
	kfree(p);
	return 0;
}

static void __exit end(void)
{
}

module_init(begin);
module_exit(end);
MODULE_LICENSE("GPL");
