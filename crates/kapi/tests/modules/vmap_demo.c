/* Pages mapped side by side in another order, and twice, so that what runs over the end comes out at the start. */
#include <linux/module.h>
#include <linux/mm.h>
#include <linux/vmalloc.h>
#include <linux/slab.h>
static int leak; module_param(leak, int, 0);
static int __init vm_init(void)
{
	struct page **pages = kcalloc(4, sizeof(*pages), GFP_KERNEL);
	unsigned long n = alloc_pages_bulk_array(GFP_KERNEL, 4, pages);
	char *a, *b;
	struct page *twice[8];
	int i;
	if (n != 4) return -ENOMEM;
	swap(pages[0], pages[3]);
	a = vmap(pages, 4, VM_MAP, PAGE_KERNEL);
	if (!a) return -ENOMEM;
	for (i = 0; i < 4; i++) sprintf(a + i * PAGE_SIZE, "page %d", i);
	for (i = 0; i < 4; i++) pr_info("%s\n", (char *)page_address(pages[i]));
	pr_info("%d %d\n", is_vmalloc_addr(a), vmalloc_to_page(a + PAGE_SIZE) == pages[1]);
	for (i = 0; i < 8; i++) twice[i] = pages[i % 4];
	b = vm_map_ram(twice, 8, -1);
	memcpy(b + 4 * PAGE_SIZE - 3, "wrapped", 8);
	pr_info("%s|%s\n", b + 4 * PAGE_SIZE - 3, a);
	vm_unmap_ram(b, 8);
	if (!leak) vunmap(a);
	if (leak == 2) vfree(a);
	if (leak == 3) kfree(a);
	for (i = 0; i < 4; i++) __free_page(pages[i]);
	kfree(pages);
	return 0;
}
static void __exit vm_exit(void) {}
module_init(vm_init); module_exit(vm_exit);
MODULE_LICENSE("GPL");
