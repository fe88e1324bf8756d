/* The page allocator by all of its functions, as a chapter on it goes through them. */
#define pr_fmt(fmt) "%s:%s(): " fmt, KBUILD_MODNAME, __func__
#include <linux/init.h>
#include <linux/ktime.h>
#include <linux/mm.h>
#include <linux/mm_types.h>
#include <linux/module.h>
#include <linux/slab.h>
#include "klib.h"

MODULE_LICENSE("Dual MIT/GPL");

static const void *gptr1, *gptr2, *gptr3, *gptr4, *gptr5;
static int bsa_alloc_order = 3;
module_param_named(order, bsa_alloc_order, int, 0660);
MODULE_PARM_DESC(order, "order of step 2 (power-to-raise-2-to)");

static int bsa_alloc(void)
{
	u64 num_pg2alloc = powerof(2, bsa_alloc_order);
	struct page *pg_ptr1;
	ktime_t begin = ktime_get();

	gptr1 = (void *)__get_free_page(GFP_KERNEL);
	if (!gptr1)
		goto out1;
	pr_info("1. one page: order 0, aligned %d\n", IS_ALIGNED((unsigned long)gptr1, PAGE_SIZE));
	gptr2 = (void *)__get_free_pages(GFP_KERNEL | __GFP_ZERO, bsa_alloc_order);
	if (!gptr2)
		goto out2;
	pr_info("2. 2^%d = %llu pages\n", bsa_alloc_order, num_pg2alloc);
	show_phy_pages(gptr2, num_pg2alloc * PAGE_SIZE, 1);
	gptr3 = (void *)get_zeroed_page(GFP_KERNEL);
	if (!gptr3)
		goto out3;
	pr_info("3. a zeroed page: %d\n", !memchr_inv(gptr3, 0, PAGE_SIZE));
	pg_ptr1 = alloc_page(GFP_KERNEL);
	if (!pg_ptr1)
		goto out4;
	gptr4 = page_address(pg_ptr1);
	pr_info("4. alloc_page: same %d, count %d\n", virt_to_page(gptr4) == pg_ptr1, page_count(pg_ptr1));
	gptr5 = page_address(alloc_pages(GFP_KERNEL, 5));
	if (!gptr5)
		goto out5;
	pr_info("5. %lu pages\n", powerof(2, 5));
	show_phy_pages(gptr5, 32 * PAGE_SIZE, 1);
	SHOW_DELTA_b(ktime_get(), begin);
	return 0;
out5:
	free_page((unsigned long)gptr4);
out4:
	free_page((unsigned long)gptr3);
out3:
	free_pages((unsigned long)gptr2, bsa_alloc_order);
out2:
	free_page((unsigned long)gptr1);
out1:
	return -ENOMEM;
}

static int page_exact_loop(void)
{
	size_t i, size = 0;

	for (i = 1; i <= 3; i++) {
		void *p;

		size = i * 5 * PAGE_SIZE + PAGES_EXTRA;
		p = alloc_pages_exact(size, GFP_KERNEL);
		if (!p)
			return -ENOMEM;
		pr_info("exact: %zu bytes, by order they would be %lu\n", size, PAGE_SIZE << get_order(size));
		show_phy_pages(p, size, true);
		free_pages_exact(p, size);
	}
	return 0;
}

static int __init lowlevel_mem_init(void)
{
	show_sizeof();
	return bsa_alloc() ?: page_exact_loop();
}

static void __exit lowlevel_mem_exit(void)
{
	pr_info("free-ing up the memory\n");
	free_pages((unsigned long)gptr5, 5);
	free_page((unsigned long)gptr4);
	free_page((unsigned long)gptr3);
	free_pages((unsigned long)gptr2, bsa_alloc_order);
	free_page((unsigned long)gptr1);
}

module_init(lowlevel_mem_init);
module_exit(lowlevel_mem_exit);
