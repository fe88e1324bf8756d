// mismatched free: freed by kfree, not by vfree
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

static int __init begin(void)
{
	void *volatile area = vmalloc(10000); // allocated by

	kfree(area); // in
	return 0;
}

static void __exit end(void)
{
}

module_init(begin);
module_exit(end);
MODULE_LICENSE("GPL");
