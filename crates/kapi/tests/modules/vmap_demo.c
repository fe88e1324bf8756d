/* Pages mapped side by side in another order, and twice, so that what runs over the end comes out at the start. */
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#define PAGES 4

static int leak;
module_param(leak, int, 0);

static int __init vm_init(void)
{
	struct page **pages = kcalloc(PAGES, sizeof(*pages), GFP_KERNEL), *twice[2 * PAGES];
	char *area, *ring;
	int i;

	if (!pages || alloc_pages_bulk_array(GFP_KERNEL, PAGES, pages) != PAGES)
		return -ENOMEM;
	swap(pages[0], pages[3]);
	area = vmap(pages, PAGES, VM_MAP, PAGE_KERNEL);
	if (!area)
		return -ENOMEM;
	for (i = 0; i < PAGES; i++)
		sprintf(area + i * PAGE_SIZE, "page %d", i);
	for (i = 0; i < PAGES; i++)
		pr_info("%s\n", (char *)page_address(pages[i]));
	pr_info("%d %d\n", is_vmalloc_addr(area), vmalloc_to_page(area + PAGE_SIZE) == pages[1]);
	for (i = 0; i < 2 * PAGES; i++)
		twice[i] = pages[i % PAGES];
	ring = vm_map_ram(twice, 2 * PAGES, NUMA_NO_NODE);
	if (!ring)
		return -ENOMEM;
	memcpy(ring + PAGES * PAGE_SIZE - 3, "wrapped", 8);
	pr_info("%s|%s\n", ring + PAGES * PAGE_SIZE - 3, area);
	vm_unmap_ram(ring, 2 * PAGES);
	if (!leak)
		vunmap(area);
	if (leak == 2)
		vfree(area);
	for (i = 0; i < PAGES; i++)
		__free_page(pages[i]);
	kfree(pages);
	return 0;
}

static void __exit vm_exit(void)
{
}
module_init(vm_init);
module_exit(vm_exit);
MODULE_LICENSE("GPL");
