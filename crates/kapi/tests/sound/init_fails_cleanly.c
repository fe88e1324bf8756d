// Nothing is wrong here: init fails cleanly.
// fails
#include <linux/module.h>
#include <linux/slab.h>

static int __init begin(void)
{
	void *a = kmalloc(10, GFP_KERNEL), *b = NULL;

	if (!a)
		return -ENOMEM;
	if (!b)
		goto no_b;
	kfree(b);
no_b:
	kfree(a);
	return -ENODEV;
}

static void __exit end(void)
{
}

module_init(begin);
module_exit(end);
MODULE_LICENSE("GPL");
