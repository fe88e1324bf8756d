// Nothing is wrong here: pages exact.
#include <linux/module.h>
#include <linux/gfp.h>
#include <linux/mm.h>

static int __init begin(void)
{
	char *p = alloc_pages_exact(5 * PAGE_SIZE, GFP_KERNEL);

	if (!p)
		return -ENOMEM;
	memset(p, 1, 5 * PAGE_SIZE);
	free_pages_exact(p, 5 * PAGE_SIZE);
	return 0;
}

static void __exit end(void)
{
}

module_init(begin);
module_exit(end);
MODULE_LICENSE("GPL");
