// leak: 10000 bytes in 1 blocks are live after exit
#include <linux/module.h>
#include <linux/vmalloc.h>

static void *volatile kept;

static int __init begin(void)
{
	kept = vmalloc(10000); // allocated by
	return 0;
}

static void __exit end(void)
{
}

module_init(begin);
module_exit(end);
MODULE_LICENSE("GPL");
