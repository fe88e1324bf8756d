// write to freed memory
#include <linux/module.h>
#include <linux/slab.h>

static int *volatile kept;

static int __init begin(void)
{
	kept = kmalloc(64, GFP_KERNEL); // allocated by
	if (!kept)
		return -ENOMEM;
	kfree(kept); // freed before by
	kept[3] = 7;
	return 0;
}

static void __exit end(void)
{
}

module_init(begin);
module_exit(end);
MODULE_LICENSE("GPL");
