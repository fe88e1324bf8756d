// SPDX-License-Identifier: MIT OR Apache-2.0
// Pools of pages for the frames of a device.
//
// How it works: the pages of a pool are the runtime's; one that is handed out is entered as the module's until it is back,
// so that a page which stays out is a leak of whoever took it, and one that is given back twice is told. What the module
// sees of a pool goes when it is destroyed; the state behind stays until the last page is back.
#include "host.h"
#include <linux/err.h>
#include <linux/kernel.h>
#include <linux/numa.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/string.h>
#include <net/page_pool/helpers.h>

/* Of page->pp_magic: the page is out, as whose pool says. */
#define PAGE_IS_OUT 0x70700000UL
/* Pages of the ring if the module says nothing, what it may say, and what it gets at most. */
#define RING_USUAL 1024U
#define RING_MAX 32768
#define RING_PAGES_MAX 16384U

struct kapi_pool {
	spinlock_t lock;
	struct page_pool_params p;
	struct page *cache[PP_ALLOC_CACHE_SIZE];
	unsigned int cached, ringed, ring_size;
	struct page **ring;
	/* The page that pieces are cut of, and where the next begins. */
	struct page *open;
	unsigned int open_at;
	long out;
	bool destroyed;
};

static unsigned int page_bytes(const struct kapi_pool *pool) { return (unsigned int)(PAGE_SIZE << pool->p.order); }

static int parameters_are_good(const struct page_pool_params *p)
{
	if (p->pool_size > RING_MAX)
		return -E2BIG;
	if ((p->flags & PP_FLAG_DMA_MAP) && p->dma_dir != DMA_FROM_DEVICE && p->dma_dir != DMA_BIDIRECTIONAL)
		return -EINVAL;
	if ((p->flags & PP_FLAG_DMA_SYNC_DEV) && (!(p->flags & PP_FLAG_DMA_MAP) || !p->max_len))
		return -EINVAL;
	return 0;
}

struct page_pool *page_pool_create(const struct page_pool_params *params)
{
	unsigned long site = kapi_module_site();
	int error = parameters_are_good(params);
	struct kapi_pool *state;
	struct page_pool *pool;
	char name[24];

	if (error)
		return ERR_PTR(error);
	pool = kapi_kmalloc_for(sizeof(*pool), GFP_KERNEL | __GFP_ZERO, site);
	state = pool ? kapi_alloc(sizeof(*state)) : NULL;
	if (!state) {
		kapi_kfree_for(pool, site);
		return ERR_PTR(-ENOMEM);
	}
	memset(state, 0, sizeof(*state));
	spin_lock_init(&state->lock);
	state->p = pool->p = *params;
	state->ring_size = min(params->pool_size ?: RING_USUAL, RING_PAGES_MAX);
	state->ring = kapi_kmalloc_for(state->ring_size * sizeof(*state->ring), GFP_KERNEL, site);
	if (!state->ring) {
		kapi_free(state, sizeof(*state));
		kapi_kfree_for(pool, site);
		return ERR_PTR(-ENOMEM);
	}
	pool->user_cnt = 1;
	pool->kapi_state = state;
	scnprintf(name, sizeof(name), "of order %u", params->order);
	kapi_stands_at(pool, "the page pool", name, site);
	return pool;
}

/* A page leaves the pool for the machine. */
static void give_up(struct kapi_pool *pool, struct page *page)
{
	page->pp = NULL;
	page->dma_addr = 0;
	kapi_give_pages(page, pool->p.order);
}

/* A page that somebody else holds, too, leaves the pool for the module, as one of alloc_pages(). */
static void leave(struct kapi_pool *pool, struct page *page, unsigned long site)
{
	page->pp = NULL;
	page->dma_addr = 0;
	kapi_enter_pages(page, pool->p.order, site);
}

static struct page *new_page(struct kapi_pool *pool, gfp_t gfp)
{
	struct page *page = kapi_take_pages(gfp | (pool->p.order ? __GFP_COMP : 0), pool->p.order);

	if (!page)
		return NULL;
	page->pp_magic = 0;
	page->pp = pool;
	page->dma_addr = (unsigned long)(pool->p.flags & PP_FLAG_DMA_MAP ? page_to_phys(page) : 0);
	if (!pool->p.init_callback)
		return page;
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 11, 0)
	pool->p.init_callback(page, pool->p.init_arg);
#else
	pool->p.init_callback(page_to_netmem(page), pool->p.init_arg);
#endif
	return page;
}

static void fill_from_ring(struct kapi_pool *pool)
{
	while (pool->ringed && pool->cached < PP_ALLOC_CACHE_REFILL)
		pool->cache[pool->cached++] = pool->ring[--pool->ringed];
}

static struct page *cached_page(struct kapi_pool *pool)
{
	if (!pool->cached)
		fill_from_ring(pool);
	return pool->cached ? pool->cache[--pool->cached] : NULL;
}

static bool keep(struct kapi_pool *pool, struct page *page, bool direct)
{
	if (direct && pool->cached < PP_ALLOC_CACHE_SIZE)
		pool->cache[pool->cached++] = page;
	else if (pool->ringed < pool->ring_size)
		pool->ring[pool->ringed++] = page;
	else
		return false;
	return true;
}

/* Fills an empty pool, of single pages with many at once; the first is the caller's. */
static struct page *page_of_machine(struct kapi_pool *pool, gfp_t gfp)
{
	unsigned int more = pool->p.order ? 0 : PP_ALLOC_CACHE_REFILL - 1;
	struct page *first = new_page(pool, gfp), *page;

	while (first && more-- && (page = new_page(pool, gfp)))
		if (!UNDER_LOCK(&pool->lock, keep(pool, page, true)))
			give_up(pool, page);
	return first;
}

static struct page *hand_out(struct kapi_pool *pool, gfp_t gfp, unsigned long site)
{
	struct page *page = UNDER_LOCK(&pool->lock, cached_page(pool));

	if (gfp & __GFP_DIRECT_RECLAIM)
		might_sleep();
	page = page ?: page_of_machine(pool, gfp);
	if (!page)
		return NULL;
	if (gfp & __GFP_ZERO)
		memset(page_address(page), 0, page_bytes(pool));
	page->pp_magic = PAGE_IS_OUT;
	atomic_long_set(&page->pp_ref_count, 1);
	UNDER_LOCK(&pool->lock, pool->out++);
	kapi_made(page_address(page), page_bytes(pool), KAPI_MADE_PAGE_POOL, site);
	return page;
}

struct page *page_pool_alloc_pages(struct page_pool *pool, gfp_t gfp)
{
	return hand_out(pool->kapi_state, gfp, kapi_module_site());
}

/* The next piece of the open page, if it has room; the page is held once for each. */
static struct page *next_piece(struct kapi_pool *pool, unsigned int *offset, unsigned int size)
{
	struct page *page = pool->open;

	if (!page)
		return NULL;
	if (pool->open_at + size > page_bytes(pool)) {
		pool->open = NULL;
		return NULL;
	}
	atomic_long_inc(&page->pp_ref_count);
	*offset = pool->open_at;
	pool->open_at += size;
	return page;
}

struct page *page_pool_alloc_frag(struct page_pool *of, unsigned int *offset, unsigned int size, gfp_t gfp)
{
	struct kapi_pool *pool = of->kapi_state;
	unsigned int bytes = ALIGN(size, 64);
	unsigned long flags;
	struct page *page;

	if (WARN_ON(size > page_bytes(pool)))
		return NULL;
	page = UNDER_LOCK(&pool->lock, next_piece(pool, offset, bytes));
	if (page)
		return page;
	page = hand_out(pool, gfp, kapi_module_site());
	if (!page)
		return NULL;
	spin_lock_irqsave(&pool->lock, flags);
	pool->open = page;
	pool->open_at = bytes;
	spin_unlock_irqrestore(&pool->lock, flags);
	*offset = 0;
	return page;
}

static void free_state(struct kapi_pool *pool)
{
	kapi_free(pool, sizeof(*pool));
}

/* The page is the pool's again, if it was out: whether it was. */
static bool take_back(struct kapi_pool *pool, struct page *page, unsigned long site)
{
	unsigned long flags;
	bool was_out;

	spin_lock_irqsave(&pool->lock, flags);
	was_out = page->pp_magic == PAGE_IS_OUT;
	page->pp_magic = 0;
	if (was_out) {
		atomic_long_set(&page->pp_ref_count, 0);
		pool->out--;
	}
	if (pool->open == page)
		pool->open = NULL;
	spin_unlock_irqrestore(&pool->lock, flags);
	/* One that was not out is told. */
	return kapi_unmade(page_address(page), KAPI_MADE_PAGE_POOL, site) && was_out;
}

/* After a page is back: it waits, or goes; and the pool with it, if that was the last of one that is destroyed. */
static void put(struct kapi_pool *pool, struct page *page, bool direct, unsigned long site)
{
	bool alone = page_ref_count(page) == 1, kept, over;
	unsigned long flags;

	if (!take_back(pool, page, site))
		return;
	spin_lock_irqsave(&pool->lock, flags);
	kept = alone && !pool->destroyed && keep(pool, page, direct);
	over = pool->destroyed && !pool->out;
	spin_unlock_irqrestore(&pool->lock, flags);
	if (!kept && alone)
		give_up(pool, page);
	else if (!kept)
		leave(pool, page, site);
	if (over)
		free_state(pool);
}

void page_pool_put_unrefed_page(struct page_pool *of, struct page *page, unsigned int dma_sync_size, bool direct)
{
	unsigned long site = kapi_module_site();

	if (page->pp)
		put(page->pp, page, direct, site);
	else
		/* It left its pool, or never was of one: which is told. */
		WARN_ON(kapi_unmade(page_address(page), KAPI_MADE_PAGE_POOL, site));
}

bool kapi_pool_put(struct page *page)
{
	struct page *head = compound_head(page);

	if (head->pp_magic != PAGE_IS_OUT)
		return false;
	if (atomic_long_read(&head->pp_ref_count) <= 1 || page_pool_unref_page(head, 1) == 0)
		put(head->pp, head, false, kapi_module_site());
	return true;
}

void page_pool_release_page(struct page_pool *of, struct page *page)
{
	unsigned long site = kapi_module_site();
	struct kapi_pool *pool = page->pp;

	if (pool && take_back(pool, page, site))
		leave(pool, page, site);
}

void page_pool_destroy(struct page_pool *of)
{
	unsigned long site = kapi_module_site(), flags;
	struct kapi_pool *pool;
	bool over;

	if (!of || --of->user_cnt)
		return;
	pool = of->kapi_state;
	spin_lock_irqsave(&pool->lock, flags);
	pool->destroyed = true;
	pool->open = NULL;
	over = !pool->out;
	spin_unlock_irqrestore(&pool->lock, flags);
	while (pool->cached)
		give_up(pool, pool->cache[--pool->cached]);
	while (pool->ringed)
		give_up(pool, pool->ring[--pool->ringed]);
	/* Nothing waits any more. */
	kapi_kfree_for(pool->ring, site);
	if (over)
		free_state(pool);
	kapi_gone(of);
	kapi_kfree_for(of, site);
}

void page_pool_update_nid(struct page_pool *pool, int new_nid) { pool->p.nid = new_nid; }
