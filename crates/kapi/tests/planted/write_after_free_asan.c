// asan: use-after-poison
#include <linux/module.h>
#include <linux/slab.h>

static int *volatile kept;

static int __init begin(void)
{
	kept = kmalloc(64, GFP_KERNEL);
	if (!kept)
		return -ENOMEM;
	kfree(kept);
	kept[3] = 7; // in
	return 0;
}

static void __exit end(void)
{
}

module_init(begin);
module_exit(end);
MODULE_LICENSE("GPL");
