// SPDX-License-Identifier: MIT OR Apache-2.0
// Pools of small blocks of coherent memory: pages that are cut into blocks, and a list of the free ones.
//
// Linux counterpart: mm/dmapool.c @ 6.4 to 7.3: the last freed block is the next one given; pages stay until the
// pool goes.
#include "host.h"
#include <linux/dma-mapping.h>
#include <linux/dmapool.h>
#include <linux/kernel.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/spinlock.h>

/* In a block that is free. */
struct block {
	struct block *next;
	dma_addr_t dma;
};

struct dma_pool {
	struct list_head pages;
	spinlock_t lock;
	struct block *free;
	size_t blocks, active, page_count;
	struct device *dev;
	unsigned int size, allocation, boundary;
	char name[32];
};

struct dma_pool *dma_pool_create(const char *name, struct device *dev, size_t size, size_t align, size_t boundary)
{
	struct dma_pool *pool;
	size_t allocation;

	if (!dev || !size || size > INT_MAX)
		return NULL;
	if (!align)
		align = 1;
	else if (align & (align - 1))
		return NULL;
	size = ALIGN(max(size, sizeof(struct block)), align);
	allocation = max_t(size_t, size, PAGE_SIZE);
	if (!boundary)
		boundary = allocation;
	else if (boundary < size || boundary & (boundary - 1))
		return NULL;
	pool = kapi_kmalloc_for(sizeof(*pool), GFP_KERNEL | __GFP_ZERO, _RET_IP_);
	if (!pool)
		return NULL;
	strscpy(pool->name, name, sizeof(pool->name));
	INIT_LIST_HEAD(&pool->pages);
	spin_lock_init(&pool->lock);
	pool->dev = dev;
	pool->size = (unsigned int)size;
	pool->allocation = (unsigned int)allocation;
	pool->boundary = (unsigned int)min(boundary, allocation);
	return pool;
}

static unsigned int order_of(const struct dma_pool *pool) { return (unsigned int)get_order(pool->allocation); }

/* Under the lock: cuts a page into blocks that do not cross the boundary, of which the lowest is given first. */
static void cut(struct dma_pool *pool, struct page *page)
{
	unsigned int offset = 0, next = pool->boundary;
	struct block *first = NULL, *last = NULL;

	while (offset + pool->size <= pool->allocation) {
		struct block *block;

		if (offset + pool->size > next) {
			offset = next;
			next += pool->boundary;
			continue;
		}
		block = page_address(page) + offset;
		block->dma = page_to_phys(page) + offset;
		block->next = NULL;
		if (last)
			last->next = block;
		else
			first = block;
		last = block;
		offset += pool->size;
		pool->blocks++;
	}
	last->next = pool->free;
	pool->free = first;
	list_add(&page->lru, &pool->pages);
	pool->page_count++;
}

/* Under the lock. */
static struct block *pop(struct dma_pool *pool)
{
	struct block *block = pool->free;

	if (block) {
		pool->free = block->next;
		pool->active++;
	}
	return block;
}

void *dma_pool_alloc(struct dma_pool *pool, gfp_t gfp, dma_addr_t *handle)
{
	struct block *block;
	unsigned long flags;
	struct page *page;

	if (gfpflags_allow_blocking(gfp))
		might_sleep();
	block = UNDER_LOCK(&pool->lock, pop(pool));
	if (!block) {
		page = kapi_take_pages(gfp & ~__GFP_COMP, order_of(pool));
		if (!page)
			return NULL;
		spin_lock_irqsave(&pool->lock, flags);
		cut(pool, page);
		block = pop(pool);
		spin_unlock_irqrestore(&pool->lock, flags);
	}
	*handle = block->dma;
	if (gfp & __GFP_ZERO)
		memset(block, 0, pool->size);
	kapi_made(block, pool->size, KAPI_MADE_DMA_POOL, _RET_IP_);
	return block;
}

void dma_pool_free(struct dma_pool *pool, void *p, dma_addr_t handle)
{
	struct block *block = p;
	unsigned long flags;

	if (!kapi_unmade(p, KAPI_MADE_DMA_POOL, _RET_IP_))
		return;
	if (virt_to_phys(p) != handle) {
		dev_err(pool->dev, "%s %s, %p (bad vaddr)/%pad\n", __func__, pool->name, p, &handle);
		return;
	}
	spin_lock_irqsave(&pool->lock, flags);
	block->dma = handle;
	block->next = pool->free;
	pool->free = block;
	pool->active--;
	spin_unlock_irqrestore(&pool->lock, flags);
}

void dma_pool_destroy(struct dma_pool *pool)
{
	struct page *page, *next;
	bool busy;

	if (!pool)
		return;
	busy = pool->active != 0;
	if (busy)
		dev_err(pool->dev, "%s %s busy\n", __func__, pool->name);
	list_for_each_entry_safe(page, next, &pool->pages, lru) {
		list_del(&page->lru);
		/* Somebody may still write there. */
		if (!busy)
			kapi_give_pages(page, order_of(pool));
	}
	kapi_kfree_for(pool, _RET_IP_);
}

static void release(struct device *dev, void *res) { dma_pool_destroy(*(struct dma_pool **)res); }
static int is_it(struct device *dev, void *res, void *match_data) { return *(void **)res == match_data; }

struct dma_pool *dmam_pool_create(const char *name, struct device *dev, size_t size, size_t align, size_t allocation)
{
	struct dma_pool **res = devres_alloc(release, sizeof(*res), GFP_KERNEL);

	if (!res)
		return NULL;
	*res = dma_pool_create(name, dev, size, align, allocation);
	if (!*res) {
		devres_free(res);
		return NULL;
	}
	devres_add(dev, res);
	return *res;
}

void dmam_pool_destroy(struct dma_pool *pool) { WARN_ON(devres_release(pool->dev, release, is_it, pool)); }
