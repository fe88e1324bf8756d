/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Pools that keep a reserve of elements. */
#ifndef _LINUX_MEMPOOL_H
#define _LINUX_MEMPOOL_H

#include <linux/slab.h>
#include <linux/spinlock.h>

typedef void *(mempool_alloc_t)(gfp_t gfp, void *data);
typedef void(mempool_free_t)(void *element, void *data);

typedef struct mempool_s {
	spinlock_t lock;
	int min_nr;
	int curr_nr;
	void **elements;
	void *pool_data;
	mempool_alloc_t *alloc;
	mempool_free_t *free;
} mempool_t;

extern mempool_t *mempool_create(int min_nr, mempool_alloc_t *alloc, mempool_free_t *free, void *data);
extern void mempool_destroy(mempool_t *pool);
extern void *mempool_alloc(mempool_t *pool, gfp_t gfp);
extern void mempool_free(void *element, mempool_t *pool);
extern void *mempool_alloc_slab(gfp_t gfp, void *data);
extern void *mempool_kmalloc(gfp_t gfp, void *data);
extern void *mempool_alloc_pages(gfp_t gfp, void *data);
extern void mempool_free_slab(void *element, void *data);
extern void mempool_kfree(void *element, void *data);
extern void mempool_free_pages(void *element, void *data);
#define mempool_create_slab_pool(n, cache) mempool_create(n, mempool_alloc_slab, mempool_free_slab, (void *)(cache))
#define mempool_create_kmalloc_pool(n, size) \
	mempool_create(n, mempool_kmalloc, mempool_kfree, (void *)(unsigned long)(size))
#define mempool_create_page_pool(n, order) \
	mempool_create(n, mempool_alloc_pages, mempool_free_pages, (void *)(unsigned long)(order))

#endif
