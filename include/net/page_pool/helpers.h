/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * What drivers call of a pool of pages. Before 6.6 it is all in net/page_pool.h.
 *
 * Linux counterpart: include/net/page_pool/helpers.h @ 6.12 and 7.3.
 */
#ifndef _NET_PAGE_POOL_HELPERS_H
#define _NET_PAGE_POOL_HELPERS_H

#include <linux/bug.h>
#include <net/page_pool/types.h>

static inline struct page *page_pool_dev_alloc_pages(struct page_pool *pool)
{
	return page_pool_alloc_pages(pool, GFP_ATOMIC | __GFP_NOWARN);
}

static inline struct page *page_pool_dev_alloc_frag(struct page_pool *pool, unsigned int *offset, unsigned int size)
{
	return page_pool_alloc_frag(pool, offset, size, GFP_ATOMIC | __GFP_NOWARN);
}

/* A whole page where more than half of one is wanted, else a piece; *@size becomes what there is. */
static inline struct page *page_pool_alloc(struct page_pool *pool, unsigned int *offset, unsigned int *size, gfp_t gfp)
{
	unsigned int whole = (unsigned int)(PAGE_SIZE << pool->p.order);

	if (*size * 2 <= whole)
		return page_pool_alloc_frag(pool, offset, *size, gfp);
	*size = whole;
	*offset = 0;
	return page_pool_alloc_pages(pool, gfp);
}

static inline struct page *page_pool_dev_alloc(struct page_pool *pool, unsigned int *offset, unsigned int *size)
{
	return page_pool_alloc(pool, offset, size, GFP_ATOMIC | __GFP_NOWARN);
}

static inline void *page_pool_alloc_va(struct page_pool *pool, unsigned int *size, gfp_t gfp)
{
	unsigned int offset;
	struct page *page = page_pool_alloc(pool, &offset, size, gfp);

	return page ? (char *)page_address(page) + offset : NULL;
}

static inline void *page_pool_dev_alloc_va(struct page_pool *pool, unsigned int *size)
{
	return page_pool_alloc_va(pool, size, GFP_ATOMIC | __GFP_NOWARN);
}

static inline enum dma_data_direction page_pool_get_dma_dir(const struct page_pool *pool) { return pool->p.dma_dir; }
static inline dma_addr_t page_pool_get_dma_addr(const struct page *page) { return page->dma_addr; }

/* A page in pieces: how many there are, that there is one more, and that some are gone. Return: how many are left. */
static inline void page_pool_fragment_page(struct page *page, long nr) { atomic_long_set(&page->pp_ref_count, nr); }
static inline void page_pool_ref_page(struct page *page) { atomic_long_inc(&page->pp_ref_count); }
static inline long page_pool_unref_page(struct page *page, long nr)
{
	long left = atomic_long_sub_return(nr, &page->pp_ref_count);

	WARN_ON(left < 0);
	return left;
}

static inline void page_pool_put_page(struct page_pool *pool, struct page *page, unsigned int dma_sync_size,
				      bool allow_direct)
{
	if (atomic_long_read(&page->pp_ref_count) <= 1 || page_pool_unref_page(page, 1) == 0)
		page_pool_put_unrefed_page(pool, page, dma_sync_size, allow_direct);
}

static inline void page_pool_put_full_page(struct page_pool *pool, struct page *page, bool allow_direct)
{
	page_pool_put_page(pool, page, -1U, allow_direct);
}

static inline void page_pool_recycle_direct(struct page_pool *pool, struct page *page)
{
	page_pool_put_full_page(pool, page, true);
}

static inline void page_pool_free_va(struct page_pool *pool, void *va, bool allow_direct)
{
	page_pool_put_page(pool, virt_to_head_page(va), -1U, allow_direct);
}

static inline void page_pool_dma_sync_for_cpu(const struct page_pool *pool, const struct page *page, u32 offset, u32 size)
{
}

static inline void page_pool_nid_changed(struct page_pool *pool, int new_nid)
{
	if (pool->p.nid != new_nid)
		page_pool_update_nid(pool, new_nid);
}

static inline netmem_ref page_pool_dev_alloc_netmems(struct page_pool *pool)
{
	return page_to_netmem(page_pool_dev_alloc_pages(pool));
}
static inline void page_pool_put_full_netmem(struct page_pool *pool, netmem_ref netmem, bool allow_direct)
{
	page_pool_put_full_page(pool, netmem_to_page(netmem), allow_direct);
}

#endif
