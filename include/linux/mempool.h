/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Pools that keep a reserve of elements. */
#ifndef _LINUX_MEMPOOL_H
#define _LINUX_MEMPOOL_H

#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/wait.h>

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
	wait_queue_head_t wait;
} mempool_t;

extern mempool_t *mempool_create(int min_nr, mempool_alloc_t *alloc, mempool_free_t *free, void *data);
extern void mempool_destroy(mempool_t *pool);
extern int mempool_init(mempool_t *pool, int min_nr, mempool_alloc_t *alloc, mempool_free_t *free, void *data);
extern void mempool_exit(mempool_t *pool);
extern int mempool_resize(mempool_t *pool, int min_nr);
extern void *mempool_alloc_preallocated(mempool_t *pool);
extern void *mempool_alloc(mempool_t *pool, gfp_t gfp);
extern void mempool_free(void *element, mempool_t *pool);
extern void *mempool_alloc_slab(gfp_t gfp, void *data);
extern void *mempool_kmalloc(gfp_t gfp, void *data);
extern void *mempool_kvmalloc(gfp_t gfp, void *data);
extern void mempool_kvfree(void *element, void *data);
extern void *mempool_alloc_pages(gfp_t gfp, void *data);
extern void mempool_free_slab(void *element, void *data);
extern void mempool_kfree(void *element, void *data);
extern void mempool_free_pages(void *element, void *data);
#define mempool_create_slab_pool(n, cache) mempool_create(n, mempool_alloc_slab, mempool_free_slab, (void *)(cache))
#define mempool_create_kmalloc_pool(n, size) \
	mempool_create(n, mempool_kmalloc, mempool_kfree, (void *)(unsigned long)(size))
#define mempool_create_page_pool(n, order) \
	mempool_create(n, mempool_alloc_pages, mempool_free_pages, (void *)(unsigned long)(order))
#define mempool_init_slab_pool(pool, n, cache) \
	mempool_init(pool, n, mempool_alloc_slab, mempool_free_slab, (void *)(cache))
#define mempool_init_kmalloc_pool(pool, n, size) \
	mempool_init(pool, n, mempool_kmalloc, mempool_kfree, (void *)(unsigned long)(size))
#define mempool_init_kvmalloc_pool(pool, n, size) \
	mempool_init(pool, n, mempool_kvmalloc, mempool_kvfree, (void *)(unsigned long)(size))
#define mempool_init_page_pool(pool, n, order) \
	mempool_init(pool, n, mempool_alloc_pages, mempool_free_pages, (void *)(unsigned long)(order))
/* Of a variable that is all zeroes before. */
#define mempool_initialized(pool) ((pool)->elements != NULL)

#endif
