// SPDX-License-Identifier: GPL-2.0-only
/*
 * memmax: how large a block does an interface give?
 *
 * Doubles the size from one page until an allocation fails, frees what it got
 * at once, and prints a line for each size. mode=0 is kmalloc(), mode=1
 * __get_free_pages(), mode=2 vmalloc().
 *
 * The allocations neither warn nor drive the kernel to kill tasks for memory:
 * failure is the expected end.
 */
#include <linux/errno.h>
#include <linux/gfp.h>
#include <linux/init.h>
#include <linux/kernel.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#define MEMMAX_GFP	(GFP_KERNEL | __GFP_NOWARN | __GFP_NORETRY)

enum { MODE_KMALLOC, MODE_PAGES, MODE_VMALLOC, MODES };

static const char * const names[MODES] = {
	"kmalloc", "__get_free_pages", "vmalloc"
};

static int mode;
module_param(mode, int, 0444);
MODULE_PARM_DESC(mode, "0 kmalloc, 1 __get_free_pages, 2 vmalloc");

static void *get(size_t bytes, unsigned int order)
{
	if (mode == MODE_KMALLOC)
		return kmalloc(bytes, MEMMAX_GFP);
	if (mode == MODE_PAGES)
		return (void *)__get_free_pages(MEMMAX_GFP, order);
	return __vmalloc(bytes, MEMMAX_GFP);
}

static void put(void *block, unsigned int order)
{
	if (mode == MODE_KMALLOC)
		kfree(block);
	else if (mode == MODE_PAGES)
		free_pages((unsigned long)block, order);
	else
		vfree(block);
}

static int __init memmax_init(void)
{
	size_t bytes_max = 0;
	unsigned int order;

	if (mode < 0 || mode >= MODES) {
		pr_err("memmax: mode=%d: there are 0, 1 and 2\n", mode);
		return -EINVAL;
	}
	for (order = 0; order < BITS_PER_LONG - PAGE_SHIFT; order++) {
		size_t bytes = PAGE_SIZE << order;
		void *block = get(bytes, order);

		pr_info("memmax: interface=%s order=%u bytes=%zu result=%s\n",
			names[mode], order, bytes, block ? "ok" : "failed");
		if (!block)
			break;
		put(block, order);
		bytes_max = bytes;
	}
	pr_info("memmax: interface=%s bytes_max=%zu\n", names[mode], bytes_max);
	return 0;
}

static void __exit memmax_exit(void)
{
}

module_init(memmax_init);
module_exit(memmax_exit);
MODULE_DESCRIPTION("Largest block of kmalloc, __get_free_pages and vmalloc");
MODULE_LICENSE("GPL");
