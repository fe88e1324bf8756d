// SPDX-License-Identifier: MIT OR Apache-2.0
// Pieces of a page block.
#include "host.h"
#include <linux/kernel.h>
#include <linux/mm.h>
#include <linux/page_frag_cache.h>
#include <linux/version.h>

/* References for pieces, taken at once when a block comes. */
#define BIAS_MAX (PAGE_FRAG_CACHE_MAX_SIZE + 1)

static bool refill(struct page_frag_cache *nc, gfp_t gfp, unsigned long site)
{
	gfp_t try = (gfp & ~__GFP_DIRECT_RECLAIM) | __GFP_COMP | __GFP_NOWARN | __GFP_NORETRY | __GFP_NOMEMALLOC;
	struct page *page = kapi_alloc_pages_for(try, PAGE_FRAG_CACHE_MAX_ORDER, site);

	nc->size = PAGE_FRAG_CACHE_MAX_SIZE;
	if (!page) {
		page = kapi_alloc_pages_for(gfp, 0, site);
		nc->size = PAGE_SIZE;
	}
	if (!page)
		return false;
	nc->va = page_address(page);
	page_ref_add(page, BIAS_MAX - 1);
	nc->pagecnt_bias = BIAS_MAX;
	nc->offset = LINUX_VERSION_CODE < KERNEL_VERSION(6, 11, 0) ? nc->size : 0;
	return true;
}

void __page_frag_cache_drain(struct page *page, unsigned int count)
{
	if (count > 1)
		page_ref_sub(page, (int)count - 1);
	put_page(page);
}

/* Gives up what was taken in advance. */
void page_frag_cache_drain(struct page_frag_cache *nc)
{
	if (nc->va)
		__page_frag_cache_drain(virt_to_head_page(nc->va), nc->pagecnt_bias);
	nc->va = NULL;
}

/* Nobody has a piece any more: the block begins anew. */
static bool reuse(struct page_frag_cache *nc)
{
	struct page *page = virt_to_head_page(nc->va);

	if (page_ref_count(page) != (int)nc->pagecnt_bias) {
		page_frag_cache_drain(nc);
		return false;
	}
	set_page_count(page, BIAS_MAX);
	nc->pagecnt_bias = BIAS_MAX;
	nc->offset = LINUX_VERSION_CODE < KERNEL_VERSION(6, 11, 0) ? nc->size : 0;
	return true;
}

/* From the end of the block down, since 6.11 from its start up; 0 and more, or -1 if there is no room. */
static long place(struct page_frag_cache *nc, unsigned int size, unsigned int align)
{
	long at;

	if (LINUX_VERSION_CODE < KERNEL_VERSION(6, 11, 0))
		at = ((long)nc->offset - size) & -(long)align;
	else
		at = ALIGN((long)nc->offset, (long)align);
	return at >= 0 && at + size <= nc->size ? at : -1;
}

static void *alloc(struct page_frag_cache *nc, unsigned int size, gfp_t gfp, unsigned int align, unsigned long site)
{
	long at;

	if (!nc->va && !refill(nc, gfp, site))
		return NULL;
	at = place(nc, size, align);
	if (at < 0) {
		if (!reuse(nc) && !refill(nc, gfp, site))
			return NULL;
		at = place(nc, size, align);
		/* More than a block of the size that there is. */
		if (at < 0)
			return NULL;
	}
	nc->pagecnt_bias--;
	nc->offset = (unsigned int)at;
	if (LINUX_VERSION_CODE >= KERNEL_VERSION(6, 11, 0))
		nc->offset += size;
	return nc->va + at;
}

void *page_frag_alloc_align(struct page_frag_cache *nc, unsigned int size, gfp_t gfp, unsigned int align)
{
	WARN_ON_ONCE(!align || align & (align - 1));
	return alloc(nc, size, gfp, align, _RET_IP_);
}

void *page_frag_alloc(struct page_frag_cache *nc, unsigned int size, gfp_t gfp)
{
	return alloc(nc, size, gfp, 1, _RET_IP_);
}

void page_frag_free(void *addr) { put_page(virt_to_head_page(addr)); }
