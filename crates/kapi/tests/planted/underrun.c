// out-of-bounds write
#include <linux/module.h>
#include <linux/slab.h>

static int __init begin(void)
{
	char *volatile p = kmalloc(64, GFP_KERNEL); // allocated by

	if (!p)
		return -ENOMEM;
	p[-1] = 1;
	kfree(p); // in
	return 0;
}

static void __exit end(void)
{
}

module_init(begin);
module_exit(end);
MODULE_LICENSE("GPL");
