// leak: 8192 bytes in 1 blocks are live after exit
#include <linux/module.h>
#include <linux/gfp.h>
#include <linux/mm.h>

static struct page *volatile kept;

static int __init begin(void)
{
	kept = alloc_pages(GFP_KERNEL, 1); // allocated by
	return 0;
}

static void __exit end(void)
{
}

module_init(begin);
module_exit(end);
MODULE_LICENSE("GPL");
