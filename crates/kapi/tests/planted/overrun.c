// out-of-bounds write: byte 100 of a block of 100 bytes was written
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/string.h>

static int __init begin(void)
{
	char *p = kmalloc(100, GFP_KERNEL); // allocated by

	if (!p)
		return -ENOMEM;
	memset(p, 0, 101);
	kfree(p); // in
	return 0;
}

static void __exit end(void)
{
}

module_init(begin);
module_exit(end);
MODULE_LICENSE("GPL");
