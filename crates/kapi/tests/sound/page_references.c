// Nothing is wrong here: page references.
#include <linux/module.h>
#include <linux/gfp.h>
#include <linux/mm.h>

static int __init begin(void)
{
	struct page *page = alloc_page(GFP_KERNEL);

	if (!page)
		return -ENOMEM;
	get_page(page);
	put_page(page);
	put_page(page);
	return 0;
}

static void __exit end(void)
{
}

module_init(begin);
module_exit(end);
MODULE_LICENSE("GPL");
