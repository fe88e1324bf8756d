/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Page allocator. */
#ifndef _LINUX_GFP_H
#define _LINUX_GFP_H

#include <linux/gfp_types.h>
#include <linux/types.h>
#include <linux/numa.h>
#include <linux/mmzone.h>
#include <linux/topology.h>
#include <linux/version.h>

struct page;
struct list_head;

extern unsigned long __get_free_pages(gfp_t gfp, unsigned int order);
extern unsigned long get_zeroed_page(gfp_t gfp);
extern void free_pages(unsigned long addr, unsigned int order);
extern struct page *alloc_pages(gfp_t gfp, unsigned int order);
extern void __free_pages(struct page *page, unsigned int order);
extern void *alloc_pages_exact(size_t size, gfp_t gfp);
extern void free_pages_exact(void *addr, size_t size);
extern struct page *alloc_pages_node(int nid, gfp_t gfp, unsigned int order);
/*
 * Fills the places of an array that have no page; returns how many from its start have one. Up to 6.13 it was
 * called alloc_pages_bulk_array(), and another put pages on a list.
 */
extern unsigned long alloc_pages_bulk(gfp_t gfp, unsigned long nr, struct page **pages);
extern unsigned long alloc_pages_bulk_list(gfp_t gfp, unsigned long nr, struct list_head *list);
#define alloc_pages_bulk_array(gfp, nr, pages) alloc_pages_bulk(gfp, nr, pages)
#define alloc_pages_bulk_array_node(gfp, node, nr, pages) alloc_pages_bulk(gfp, nr, pages)
#define alloc_pages_bulk_node(gfp, node, nr, pages) alloc_pages_bulk(gfp, nr, pages)

#define __get_free_page(gfp) __get_free_pages((gfp), 0)
#define __get_dma_pages(gfp, order) __get_free_pages((gfp) | GFP_DMA, (order))
#define get_free_page(gfp) get_zeroed_page(gfp)
#define alloc_page(gfp) alloc_pages(gfp, 0)
#define __free_page(page) __free_pages((page), 0)
#define free_page(addr) free_pages((addr), 0)

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 13, 0)
#include <linux/page_frag_cache.h>
#endif


static inline bool gfpflags_allow_blocking(gfp_t gfp) { return !!(gfp & __GFP_DIRECT_RECLAIM); }

#endif
