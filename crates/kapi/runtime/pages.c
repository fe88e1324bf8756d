// SPDX-License-Identifier: MIT OR Apache-2.0
// Many pages at once, mapped pages, and how much memory there is.
#include "host.h"
#include <linux/kernel.h>
#include <linux/list.h>
#include <linux/mm.h>
#include <linux/vmalloc.h>

unsigned long alloc_pages_bulk(gfp_t gfp, unsigned long nr, struct page **pages)
{
	unsigned long at;

	for (at = 0; at < nr; at++)
		if (!pages[at] && !(pages[at] = kapi_alloc_pages_for(gfp, 0, _RET_IP_)))
			break;
	return at;
}

unsigned long alloc_pages_bulk_list(gfp_t gfp, unsigned long nr, struct list_head *list)
{
	unsigned long at;
	struct page *page;

	for (at = 0; at < nr && (page = kapi_alloc_pages_for(gfp, 0, _RET_IP_)); at++)
		list_add(&page->lru, list);
	return at;
}

void *vmap(struct page **pages, unsigned int count, unsigned long flags, pgprot_t prot)
{
	if (count > totalram_pages)
		return NULL;
	return kapi_vmap_for(pages, count, _RET_IP_);
}

void *vm_map_ram(struct page **pages, unsigned int count, int node) { return kapi_vmap_for(pages, count, _RET_IP_); }

void vm_unmap_ram(const void *addr, unsigned int count)
{
	BUG_ON(!addr || !PAGE_ALIGNED(addr));
	kapi_vunmap_for(addr, _RET_IP_);
}

void si_meminfo(struct sysinfo *info)
{
	memset(info, 0, sizeof(*info));
	info->totalram = totalram_pages;
	info->freeram = nr_free_pages();
	info->mem_unit = PAGE_SIZE;
	info->procs = 1;
}

/* Nothing is kept back for interrupts, and no page is a file's. */
long si_mem_available(void) { return (long)nr_free_pages(); }
