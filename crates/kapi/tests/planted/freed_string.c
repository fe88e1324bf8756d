// read of freed memory: `%s` of
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/string.h>

static int __init begin(void)
{
	char *volatile name = kstrdup("planted", GFP_KERNEL); // allocated by

	if (!name)
		return -ENOMEM;
	kfree(name); // freed before by
	pr_info("name %s\n", name); // in
	return 0;
}

static void __exit end(void)
{
}

module_init(begin);
module_exit(end);
MODULE_LICENSE("GPL");
