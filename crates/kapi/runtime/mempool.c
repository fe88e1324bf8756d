// SPDX-License-Identifier: MIT OR Apache-2.0
// Pools that keep a reserve of elements.
#include "host.h"
#include <linux/kernel.h>
#include <linux/mempool.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/wait.h>

void *mempool_alloc_slab(gfp_t gfp, void *data) { return kmem_cache_alloc(data, gfp); }
void mempool_free_slab(void *element, void *data) { kmem_cache_free(data, element); }
void *mempool_kvmalloc(gfp_t gfp, void *data) { return kvmalloc((size_t)data, gfp); }
void mempool_kvfree(void *element, void *data) { kvfree(element); }
void *mempool_kmalloc(gfp_t gfp, void *data) { return kmalloc((size_t)data, gfp); }
void mempool_kfree(void *element, void *data) { kfree(element); }
void *mempool_alloc_pages(gfp_t gfp, void *data) { return alloc_pages(gfp, (unsigned int)(unsigned long)data); }
void mempool_free_pages(void *element, void *data) { __free_pages(element, (unsigned int)(unsigned long)data); }

/* Fills a pool up to its number; without one of them it is none. */
static int fill(mempool_t *pool)
{
	while (pool->curr_nr < pool->min_nr) {
		void *element = pool->alloc(GFP_KERNEL, pool->pool_data);

		if (!element) {
			mempool_exit(pool);
			return -ENOMEM;
		}
		pool->elements[pool->curr_nr++] = element;
	}
	return 0;
}

static int init(mempool_t *pool, int min_nr, mempool_alloc_t *alloc, mempool_free_t *free, void *data,
		unsigned long site)
{
	spin_lock_init(&pool->lock);
	init_waitqueue_head(&pool->wait);
	pool->curr_nr = 0;
	pool->min_nr = min_nr;
	pool->pool_data = data;
	pool->alloc = alloc;
	pool->free = free;
	/* A pool of none still gives the last one back to whoever waits. */
	pool->elements = kapi_kmalloc_for((size_t)max(min_nr, 1) * sizeof(void *), GFP_KERNEL, site);
	return pool->elements ? fill(pool) : -ENOMEM;
}

int mempool_init(mempool_t *pool, int min_nr, mempool_alloc_t *alloc, mempool_free_t *free, void *data)
{
	return init(pool, min_nr, alloc, free, data, _RET_IP_);
}

mempool_t *mempool_create(int min_nr, mempool_alloc_t *alloc, mempool_free_t *free, void *data)
{
	mempool_t *pool = kapi_kmalloc_for(sizeof(*pool), GFP_KERNEL | __GFP_ZERO, _RET_IP_);

	if (pool && !init(pool, min_nr, alloc, free, data, _RET_IP_))
		return pool;
	kfree(pool);
	return NULL;
}

/* Frees what is in reserve; a pool of zeroes, never used, is as good. */
void mempool_exit(mempool_t *pool)
{
	while (pool->curr_nr)
		pool->free(pool->elements[--pool->curr_nr], pool->pool_data);
	kfree(pool->elements);
	pool->elements = NULL;
}

void mempool_destroy(mempool_t *pool)
{
	if (!pool)
		return;
	mempool_exit(pool);
	kfree(pool);
}

static void *take(mempool_t *pool)
{
	return UNDER_LOCK(&pool->lock, pool->curr_nr ? pool->elements[--pool->curr_nr] : NULL);
}

int mempool_resize(mempool_t *pool, int min_nr)
{
	void **elements, **old, *element;
	unsigned long flags;

	BUG_ON(min_nr <= 0);
	elements = kapi_kmalloc_for((size_t)min_nr * sizeof(void *), GFP_KERNEL, _RET_IP_);
	if (!elements)
		return -ENOMEM;
	while (pool->curr_nr > min_nr && (element = take(pool)))
		pool->free(element, pool->pool_data);
	spin_lock_irqsave(&pool->lock, flags);
	memcpy(elements, pool->elements, (size_t)pool->curr_nr * sizeof(void *));
	old = pool->elements;
	pool->elements = elements;
	pool->min_nr = min_nr;
	spin_unlock_irqrestore(&pool->lock, flags);
	kfree(old);
	while (READ_ONCE(pool->curr_nr) < min_nr) {
		element = pool->alloc(GFP_KERNEL, pool->pool_data);
		if (!element)
			break;
		mempool_free(element, pool);
	}
	return 0;
}

void *mempool_alloc(mempool_t *pool, gfp_t gfp)
{
	VM_WARN_ON_ONCE(gfp & __GFP_ZERO);
	might_sleep_if(gfpflags_allow_blocking(gfp));
	for (;;) {
		/* The reserve is for when nothing is left: the first attempt may not wait for more. */
		void *element = pool->alloc((gfp | __GFP_NOWARN | __GFP_NORETRY) & ~(__GFP_DIRECT_RECLAIM | __GFP_IO),
					    pool->pool_data);

		if (!element)
			element = take(pool);
		if (!element && gfpflags_allow_blocking(gfp))
			element = pool->alloc(gfp | __GFP_NOWARN | __GFP_NORETRY, pool->pool_data);
		if (element || !gfpflags_allow_blocking(gfp))
			return element;
		wait_event_timeout(pool->wait, READ_ONCE(pool->curr_nr), 5 * HZ);
	}
}

/* Only from the reserve, and at once. */
void *mempool_alloc_preallocated(mempool_t *pool) { return take(pool); }

void mempool_free(void *element, mempool_t *pool)
{
	unsigned long flags;

	if (!element)
		return;
	spin_lock_irqsave(&pool->lock, flags);
	if (pool->curr_nr < max(pool->min_nr, 1) && (pool->min_nr || waitqueue_active(&pool->wait))) {
		pool->elements[pool->curr_nr++] = element;
		element = NULL;
	}
	spin_unlock_irqrestore(&pool->lock, flags);
	if (element)
		pool->free(element, pool->pool_data);
	else
		wake_up(&pool->wait);
}
