/* What the helpers do: page frames of an area one by one, and sizes of types. */
#define pr_fmt(fmt) "%s:%s(): " fmt, KBUILD_MODNAME, __func__
#include <linux/io.h>
#include <linux/kernel.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/pfn.h>
#include "klib.h"

void show_phy_pages(const void *kaddr, size_t len, bool contiguity_check)
{
	const void *vaddr = kaddr;
	unsigned long pfn, prev = 0;
	int i, loops = len / PAGE_SIZE;

	if (!virt_addr_valid(vaddr)) {
		pr_info("invalid virtual address\n");
		return;
	}
	if (len % PAGE_SIZE)
		loops++;
	for (i = 0; i < loops; i++, vaddr += PAGE_SIZE) {
		phys_addr_t pa = virt_to_phys((volatile void *)vaddr);

		pfn = PHYS_PFN(pa);
		if (contiguity_check && i && pfn != prev + 1)
			pr_notice(" *** physical NON-contiguity detected (i=%d) ***\n", i);
		if (PFN_PHYS(pfn) != (pa & PAGE_MASK) || page_to_pfn(virt_to_page(vaddr)) != pfn)
			pr_notice("frame and address differ\n");
		prev = pfn;
	}
	pr_info("%d pages of %zu bytes, from a page's begin %d\n", loops, len, offset_in_page(kaddr) == 0);
}

void show_sizeof(void)
{
	pr_info("char %zu int %zu long %zu long long %zu void * %zu float %zu\n", sizeof(char), sizeof(int), sizeof(long),
		sizeof(long long), sizeof(void *), sizeof(int));
}

u64 powerof(int base, int exponent)
{
	u64 res = 1;

	if (base == 0)
		return 0;
	while (exponent-- > 0)
		res *= base;
	return res;
}
