// SPDX-License-Identifier: MIT OR Apache-2.0
// An area of vmalloc() and the pages behind it are the same memory.
#include <linux/init.h>
#include <linux/kernel.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/vmalloc.h>

#define PAGES 64

static int overrun;
module_param(overrun, int, 0);

static int __init vmalloc_demo_init(void)
{
	unsigned char *area = vmalloc(PAGES * PAGE_SIZE), *zeroed;
	int i, same = 0, zero = 0;

	if (!area)
		return -ENOMEM;
	for (i = 0; i < PAGES; i++) {
		struct page *page = vmalloc_to_page(area + i * PAGE_SIZE);
		unsigned char *direct = page_address(page);

		area[i * PAGE_SIZE + 10] = i;
		same += direct[10] == i;
		direct[20] = ~i;
		same += area[i * PAGE_SIZE + 20] == (unsigned char)~i;
	}
	printk(KERN_INFO "vmalloc_demo: same %d of %d, is vmalloc %d %d\n", same, 2 * PAGES,
	       is_vmalloc_addr(area), is_vmalloc_addr(page_address(vmalloc_to_page(area))));
	memset(area, 0xff, PAGES * PAGE_SIZE);
	vfree(area);
	zeroed = vzalloc(PAGES * PAGE_SIZE);
	for (i = 0; i < PAGES * PAGE_SIZE; i++)
		zero += zeroed[i] == 0;
	printk(KERN_INFO "vmalloc_demo: zero %d\n", zero == PAGES * PAGE_SIZE);
	if (overrun)
		zeroed[PAGES * PAGE_SIZE] = 1; /* the guard page */
	vfree(zeroed);
	return 0;
}

static void __exit vmalloc_demo_exit(void)
{
}

module_init(vmalloc_demo_init);
module_exit(vmalloc_demo_exit);
MODULE_LICENSE("Dual MIT/GPL");
