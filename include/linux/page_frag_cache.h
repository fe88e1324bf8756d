/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Pieces of a page block, each of which holds a reference to it: the block goes with the last.
 * Up to 6.11 declared by gfp.h.
 */
#ifndef _LINUX_PAGE_FRAG_CACHE_H
#define _LINUX_PAGE_FRAG_CACHE_H

#include <linux/types.h>

#define PAGE_FRAG_CACHE_MAX_SIZE 32768UL
#define PAGE_FRAG_CACHE_MAX_ORDER 3

struct page_frag_cache {
	void *va;
	unsigned int offset;
	unsigned int size;
	/* References that were taken for pieces that are still to be given. */
	unsigned int pagecnt_bias;
	bool pfmemalloc;
};

static inline void page_frag_cache_init(struct page_frag_cache *nc) { nc->va = NULL; }
extern void page_frag_cache_drain(struct page_frag_cache *nc);
extern void *page_frag_alloc_align(struct page_frag_cache *nc, unsigned int size, gfp_t gfp, unsigned int align);
extern void *page_frag_alloc(struct page_frag_cache *nc, unsigned int size, gfp_t gfp);
extern void page_frag_free(void *addr);
struct page;
extern void __page_frag_cache_drain(struct page *page, unsigned int count);
#define page_frag_cache_is_pfmemalloc(nc) ((nc)->pfmemalloc)

#endif
