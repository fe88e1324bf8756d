// asan: use-after-poison
#include <linux/module.h>
#include <linux/slab.h>

static int __init begin(void)
{
	char *volatile p = kzalloc(64, GFP_KERNEL);

	if (!p)
		return -ENOMEM;
	pr_info("%d\n", p[64]); // in
	kfree(p);
	return 0;
}

static void __exit end(void)
{
}

module_init(begin);
module_exit(end);
MODULE_LICENSE("GPL");
