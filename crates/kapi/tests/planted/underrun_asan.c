// asan: use-after-poison
#include <linux/module.h>
#include <linux/slab.h>

static int __init begin(void)
{
	char *a = kmalloc(64, GFP_KERNEL), *b = kmalloc(64, GFP_KERNEL), *volatile upper = a > b ? a : b;

	if (!a || !b)
		return -ENOMEM;
	upper[-1] = 1; // in
	kfree(a);
	kfree(b);
	return 0;
}

static void __exit end(void)
{
}

module_init(begin);
module_exit(end);
MODULE_LICENSE("GPL");
