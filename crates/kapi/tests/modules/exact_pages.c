/* alloc_pages_exact() keeps the pages that the size needs, and no more. */
#include <linux/gfp.h>
#include <linux/kernel.h>
#include <linux/mm.h>
#include <linux/module.h>

static unsigned long taken(unsigned long before)
{
	return before - nr_free_pages();
}

static int __init exact_pages_init(void)
{
	static const unsigned long sizes[] = { 1, PAGE_SIZE, PAGE_SIZE + 1, 5 * PAGE_SIZE, 700000 };
	unsigned long before = nr_free_pages();
	int i;

	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		char *block = alloc_pages_exact(sizes[i], GFP_KERNEL | __GFP_ZERO);
		unsigned long pages;

		if (!block)
			return -ENOMEM;
		block[sizes[i] - 1] = 1;
		pages = taken(before);
		free_pages_exact(block, sizes[i]);
		printk(KERN_INFO "exact_pages: %lu bytes took %lu pages, left %lu\n", sizes[i], pages,
		       taken(before));
	}
	printk(KERN_INFO "exact_pages: 8 MiB %s\n",
	       alloc_pages_exact(8 << 20, GFP_KERNEL | __GFP_NOWARN) ? "given" : "refused");
	return 0;
}

static void __exit exact_pages_exit(void)
{
}
module_init(exact_pages_init);
module_exit(exact_pages_exit);
MODULE_LICENSE("GPL");
