/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Pools of pages for the frames of a device: pages that are given back wait in the pool, in a cache and then in a ring, and
 * are handed out again.
 *
 * How it works: an empty pool takes PP_ALLOC_CACHE_REFILL pages at once. The owner's returns fill the cache, all others the
 * ring; a page that fits neither, or that somebody else holds, leaves the pool. A pool that is destroyed stays until its
 * last page is back.
 *
 * Linux counterpart: include/net/page_pool.h @ 6.1, include/net/page_pool/types.h @ 6.12 and 7.3. Differences from Linux:
 * the ring has a lock, an address for devices is the page's own, and a page of a pool is never a device's memory.
 */
#ifndef _NET_PAGE_POOL_TYPES_H
#define _NET_PAGE_POOL_TYPES_H

#include <linux/dma-mapping.h>
#include <linux/mm.h>
#include <linux/types.h>
#include <linux/version.h>
#include <kapi/bytes.h>

#define PP_FLAG_DMA_MAP 0x1U
#define PP_FLAG_DMA_SYNC_DEV 0x2U
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 7, 0)
#define PP_FLAG_PAGE_FRAG 0x4U
#endif
#define PP_ALLOC_CACHE_SIZE 128
#define PP_ALLOC_CACHE_REFILL 64

struct device;
struct net_device;
struct napi_struct;

/* A page, as a number, in kernels whose frames may be a device's memory. */
typedef unsigned long netmem_ref;
static inline struct page *netmem_to_page(netmem_ref netmem) { return (struct page *)netmem; }
static inline netmem_ref page_to_netmem(struct page *page) { return (netmem_ref)page; }

struct page_pool_params {
	unsigned int order;
	unsigned int pool_size;
	int nid;
	struct device *dev;
	struct napi_struct *napi;
	enum dma_data_direction dma_dir;
	unsigned int max_len;
	unsigned int offset;
	struct net_device *netdev;
	unsigned int queue_idx;
	unsigned int flags;
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 11, 0)
	void (*init_callback)(struct page *page, void *arg);
#else
	void (*init_callback)(netmem_ref netmem, void *arg);
#endif
	void *init_arg;
};

struct kapi_pool;
struct page_pool {
	struct page_pool_params p;
	u32 user_cnt;
	/* What outlives the pool while pages are out. */
	struct kapi_pool *kapi_state;
	u8 kapi_rest[KAPI_PAGE_POOL_BYTES - sizeof(struct page_pool_params) - 16];
};
KAPI_IS_LARGE(struct page_pool, KAPI_PAGE_POOL_BYTES);

extern struct page_pool *page_pool_create(const struct page_pool_params *params);
extern void page_pool_destroy(struct page_pool *pool);
/* Return: a page of the pool's order, NULL if there is no memory. */
extern struct page *page_pool_alloc_pages(struct page_pool *pool, gfp_t gfp);
/* Return: a page of which the caller has @size bytes from *@offset on; it is to be given back for each piece. */
extern struct page *page_pool_alloc_frag(struct page_pool *pool, unsigned int *offset, unsigned int size, gfp_t gfp);
/* Gives back what nobody has a piece of any more. */
extern void page_pool_put_unrefed_page(struct page_pool *pool, struct page *page, unsigned int dma_sync_size,
				       bool allow_direct);
extern void page_pool_update_nid(struct page_pool *pool, int new_nid);
/* Takes the page out of the pool: it is the caller's, and put_page() frees it. */
extern void page_pool_release_page(struct page_pool *pool, struct page *page);
static inline void page_pool_disable_direct_recycling(struct page_pool *pool) { }
static inline bool is_page_pool_compiled_in(void) { return true; }

#endif
