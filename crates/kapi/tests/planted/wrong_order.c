// mismatched free: freed by free_pages of order 1, not by free_pages of order 2
#include <linux/module.h>
#include <linux/gfp.h>
#include <linux/mm.h>

static int __init begin(void)
{
	unsigned long pages = __get_free_pages(GFP_KERNEL, 2); // allocated by

	free_pages(pages, 1); // in
	return 0;
}

static void __exit end(void)
{
}

module_init(begin);
module_exit(end);
MODULE_LICENSE("GPL");
