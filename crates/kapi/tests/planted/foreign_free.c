// invalid free of what was not allocated
#include <linux/module.h>
#include <linux/slab.h>

static char buffer[64];

static int __init begin(void)
{
	char *volatile p = buffer;

	kfree(p); // in
	return 0;
}

static void __exit end(void)
{
}

module_init(begin);
module_exit(end);
MODULE_LICENSE("GPL");
