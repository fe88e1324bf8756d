// Nothing is wrong here: pages of orders.
#include <linux/module.h>
#include <linux/gfp.h>
#include <linux/mm.h>

static int __init begin(void)
{
	unsigned int order;

	for (order = 0; order < 5; order++) {
		struct page *page = alloc_pages(GFP_KERNEL | __GFP_ZERO, order);
		unsigned long address = __get_free_pages(GFP_KERNEL, order);

		if (!page || !address)
			return -ENOMEM;
		memset((void *)address, 1, PAGE_SIZE << order);
		free_pages(address, order);
		__free_pages(page, order);
	}
	return 0;
}

static void __exit end(void)
{
}

module_init(begin);
module_exit(end);
MODULE_LICENSE("GPL");
