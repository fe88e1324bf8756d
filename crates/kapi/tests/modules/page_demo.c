/* struct page, physical addresses, orders, highmem's kmap. */
#include <linux/module.h>
#include <linux/mm.h>
#include <linux/highmem.h>
#include <linux/gfp.h>
#include <asm/io.h>
#include <asm/page.h>

static int __init page_demo(void)
{
	struct page *page = alloc_pages(GFP_HIGHUSER, 2);
	unsigned long zeroed = get_zeroed_page(GFP_KERNEL), dma;
	char *p;
	int i;

	if (!page || !zeroed)
		return -ENOMEM;
	p = kmap(page);
	memset(p, 0xaa, 4 * PAGE_SIZE);
	printk(KERN_INFO "page: round trip %d, phys %d\n", virt_to_page(p) == page,
	       virt_to_phys(p) == (unsigned long)page_to_pfn(page) << PAGE_SHIFT);
	printk(KERN_INFO "page: count %d, valid %d\n", page_count(page), virt_addr_valid(p));
	kunmap(page);
	get_page(page);
	put_page(page);
	for (i = 0; i < PAGE_SIZE && !((char *)zeroed)[i]; i++)
		;
	printk(KERN_INFO "page: %d zero bytes\n", i);
	dma = __get_dma_pages(GFP_KERNEL, 0);
	printk(KERN_INFO "page: dma %s\n", virt_to_phys((void *)dma) < (16 << 20) ? "low" : "high");
	free_page(dma);
	free_page(zeroed);
	__free_pages(page, 2);
	page = alloc_pages(GFP_KERNEL, 2);
	split_page(page, 2);
	for (i = 0; i < 4; i++)
		__free_page(page + i);
	printk(KERN_INFO "page: %lu MiB\n", totalram_pages() >> (20 - PAGE_SHIFT));
	return 0;
}

static void __exit page_exit(void)
{
}
module_init(page_demo);
module_exit(page_exit);
MODULE_LICENSE("GPL");
