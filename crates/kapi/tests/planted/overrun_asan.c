// asan: use-after-poison
#include <linux/module.h>
#include <linux/slab.h>

static int __init begin(void)
{
	char *volatile p = kmalloc(100, GFP_KERNEL);

	if (!p)
		return -ENOMEM;
	p[100] = 1; // in
	kfree(p);
	return 0;
}

static void __exit end(void)
{
}

module_init(begin);
module_exit(end);
MODULE_LICENSE("GPL");
