// SPDX-License-Identifier: MIT OR Apache-2.0
// Allocators over memory of the module's choice. One lock for each pool, where Linux has none.
#include "host.h"
#include <linux/bitmap.h>
#include <linux/device.h>
#include <linux/genalloc.h>
#include <linux/kernel.h>
#include <linux/log2.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

static size_t bytes_of(const struct gen_pool_chunk *chunk) { return chunk->end_addr - chunk->start_addr + 1; }

static unsigned long bits_of(const struct gen_pool *pool, const struct gen_pool_chunk *chunk)
{
	return bytes_of(chunk) >> pool->min_alloc_order;
}

static unsigned int bits_for(const struct gen_pool *pool, size_t size)
{
	return (unsigned int)((size + (1UL << pool->min_alloc_order) - 1) >> pool->min_alloc_order);
}

static struct gen_pool *create(int min_alloc_order, unsigned long site)
{
	struct gen_pool *pool = kapi_kmalloc_for(sizeof(*pool), GFP_KERNEL | __GFP_ZERO, site);

	if (!pool)
		return NULL;
	spin_lock_init(&pool->lock);
	INIT_LIST_HEAD(&pool->chunks);
	pool->min_alloc_order = min_alloc_order;
	pool->algo = gen_pool_first_fit;
	return pool;
}

struct gen_pool *gen_pool_create(int min_alloc_order, int nid) { return create(min_alloc_order, _RET_IP_); }

int gen_pool_add_owner(struct gen_pool *pool, unsigned long virt, phys_addr_t phys, size_t size, int nid, void *owner)
{
	size_t bytes = sizeof(struct gen_pool_chunk) + BITS_TO_LONGS(size >> pool->min_alloc_order) * sizeof(long);
	struct gen_pool_chunk *chunk = vzalloc(bytes);
	unsigned long flags;

	if (!chunk)
		return -ENOMEM;
	chunk->phys_addr = phys;
	chunk->owner = owner;
	chunk->start_addr = virt;
	chunk->end_addr = virt + size - 1;
	atomic_long_set(&chunk->avail, (long)size);
	spin_lock_irqsave(&pool->lock, flags);
	list_add(&chunk->next_chunk, &pool->chunks);
	spin_unlock_irqrestore(&pool->lock, flags);
	return 0;
}

void gen_pool_destroy(struct gen_pool *pool)
{
	struct gen_pool_chunk *chunk, *next;

	list_for_each_entry_safe(chunk, next, &pool->chunks, next_chunk) {
		unsigned long bits = bits_of(pool, chunk);

		/* As Linux: what is still allocated would be used without its allocator. */
		BUG_ON(find_first_bit(chunk->bits, bits) < bits);
		list_del(&chunk->next_chunk);
		vfree(chunk);
	}
	kfree_const(pool->name);
	kapi_kfree_for(pool, _RET_IP_);
}

/* Under the lock: takes bits of the first chunk that has them. */
static unsigned long take(struct gen_pool *pool, size_t size, genpool_algo_t algo, void *data, void **owner)
{
	unsigned int nr = bits_for(pool, size);
	struct gen_pool_chunk *chunk;

	list_for_each_entry(chunk, &pool->chunks, next_chunk) {
		unsigned long bits = bits_of(pool, chunk), at;

		if ((size_t)atomic_long_read(&chunk->avail) < size)
			continue;
		at = algo(chunk->bits, bits, 0, nr, data, pool, chunk->start_addr);
		if (at >= bits)
			continue;
		bitmap_set(chunk->bits, (unsigned int)at, nr);
		atomic_long_sub((long)nr << pool->min_alloc_order, &chunk->avail);
		if (owner)
			*owner = chunk->owner;
		return chunk->start_addr + (at << pool->min_alloc_order);
	}
	return 0;
}

static unsigned long alloc(struct gen_pool *pool, size_t size, genpool_algo_t algo, void *data, void **owner,
			   unsigned long site)
{
	unsigned long addr;

	if (owner)
		*owner = NULL;
	if (!size)
		return 0;
	addr = UNDER_LOCK(&pool->lock, take(pool, size, algo, data, owner));
	if (addr)
		kapi_made((void *)addr, size, KAPI_MADE_GEN_POOL, site);
	return addr;
}

unsigned long gen_pool_alloc_algo_owner(struct gen_pool *pool, size_t size, genpool_algo_t algo, void *data,
					void **owner)
{
	return alloc(pool, size, algo, data, owner, _RET_IP_);
}

unsigned long gen_pool_alloc(struct gen_pool *pool, size_t size)
{
	return alloc(pool, size, pool->algo, pool->data, NULL, _RET_IP_);
}

unsigned long gen_pool_alloc_algo(struct gen_pool *pool, size_t size, genpool_algo_t algo, void *data)
{
	return alloc(pool, size, algo, data, NULL, _RET_IP_);
}

static struct gen_pool_chunk *chunk_of(struct gen_pool *pool, unsigned long addr)
{
	struct gen_pool_chunk *chunk;

	list_for_each_entry(chunk, &pool->chunks, next_chunk)
		if (addr >= chunk->start_addr && addr <= chunk->end_addr)
			return chunk;
	return NULL;
}

static void give(struct gen_pool *pool, unsigned long addr, size_t size, void **owner, unsigned long site)
{
	unsigned int nr = bits_for(pool, size), at, i;
	struct gen_pool_chunk *chunk;
	unsigned long flags;

	if (owner)
		*owner = NULL;
	if (!kapi_unmade((void *)addr, KAPI_MADE_GEN_POOL, site))
		return;
	spin_lock_irqsave(&pool->lock, flags);
	chunk = chunk_of(pool, addr);
	BUG_ON(!chunk || addr + size - 1 > chunk->end_addr);
	at = (unsigned int)((addr - chunk->start_addr) >> pool->min_alloc_order);
	for (i = 0; i < nr; i++)
		BUG_ON(!test_bit((int)(at + i), chunk->bits));
	bitmap_clear(chunk->bits, at, nr);
	atomic_long_add((long)nr << pool->min_alloc_order, &chunk->avail);
	if (owner)
		*owner = chunk->owner;
	spin_unlock_irqrestore(&pool->lock, flags);
}

void gen_pool_free_owner(struct gen_pool *pool, unsigned long addr, size_t size, void **owner)
{
	give(pool, addr, size, owner, _RET_IP_);
}

void gen_pool_free(struct gen_pool *pool, unsigned long addr, size_t size) { give(pool, addr, size, NULL, _RET_IP_); }

phys_addr_t gen_pool_virt_to_phys(struct gen_pool *pool, unsigned long addr)
{
	struct gen_pool_chunk *chunk = UNDER_LOCK(&pool->lock, chunk_of(pool, addr));

	return chunk ? chunk->phys_addr + (addr - chunk->start_addr) : (phys_addr_t)-1;
}

static void *dma_alloc(struct gen_pool *pool, size_t size, dma_addr_t *dma, unsigned long site)
{
	unsigned long addr = pool ? alloc(pool, size, pool->algo, pool->data, NULL, site) : 0;

	if (addr && dma)
		*dma = gen_pool_virt_to_phys(pool, addr);
	return (void *)addr;
}

void *gen_pool_dma_alloc(struct gen_pool *pool, size_t size, dma_addr_t *dma)
{
	return dma_alloc(pool, size, dma, _RET_IP_);
}

void *gen_pool_dma_zalloc(struct gen_pool *pool, size_t size, dma_addr_t *dma)
{
	void *p = dma_alloc(pool, size, dma, _RET_IP_);

	return p ? memset(p, 0, size) : NULL;
}

void gen_pool_for_each_chunk(struct gen_pool *pool, gen_pool_chunk_fn *func, void *data)
{
	struct gen_pool_chunk *chunk;

	list_for_each_entry(chunk, &pool->chunks, next_chunk)
		func(pool, chunk, data);
}

size_t gen_pool_avail(struct gen_pool *pool)
{
	struct gen_pool_chunk *chunk;
	size_t sum = 0;

	list_for_each_entry(chunk, &pool->chunks, next_chunk)
		sum += (size_t)atomic_long_read(&chunk->avail);
	return sum;
}

size_t gen_pool_size(struct gen_pool *pool)
{
	struct gen_pool_chunk *chunk;
	size_t sum = 0;

	list_for_each_entry(chunk, &pool->chunks, next_chunk)
		sum += bytes_of(chunk);
	return sum;
}

bool gen_pool_has_addr(struct gen_pool *pool, unsigned long start, size_t size)
{
	struct gen_pool_chunk *chunk = UNDER_LOCK(&pool->lock, chunk_of(pool, start));

	return chunk && start + size - 1 <= chunk->end_addr;
}

void gen_pool_set_algo(struct gen_pool *pool, genpool_algo_t algo, void *data)
{
	unsigned long flags;

	spin_lock_irqsave(&pool->lock, flags);
	pool->algo = algo ?: gen_pool_first_fit;
	pool->data = data;
	spin_unlock_irqrestore(&pool->lock, flags);
}

unsigned long gen_pool_first_fit(unsigned long *map, unsigned long size, unsigned long start, unsigned int nr,
				 void *data, struct gen_pool *pool, unsigned long start_addr)
{
	return bitmap_find_next_zero_area(map, size, start, nr, 0);
}

unsigned long gen_pool_first_fit_align(unsigned long *map, unsigned long size, unsigned long start, unsigned int nr,
				       void *data, struct gen_pool *pool, unsigned long start_addr)
{
	unsigned int unit = 1U << pool->min_alloc_order;
	unsigned long align = bits_for(pool, (size_t)((struct genpool_data_align *)data)->align);
	/* What is aligned is the address, not the bit. */
	unsigned long offset = (start_addr & (align * unit - 1)) / unit;

	return bitmap_find_next_zero_area_off(map, size, start, nr, align - 1, offset);
}

unsigned long gen_pool_first_fit_order_align(unsigned long *map, unsigned long size, unsigned long start,
					     unsigned int nr, void *data, struct gen_pool *pool,
					     unsigned long start_addr)
{
	return bitmap_find_next_zero_area(map, size, start, nr, roundup_pow_of_two(nr) - 1);
}

unsigned long gen_pool_fixed_alloc(unsigned long *map, unsigned long size, unsigned long start, unsigned int nr,
				   void *data, struct gen_pool *pool, unsigned long start_addr)
{
	unsigned long offset = ((struct genpool_data_fixed *)data)->offset, want, at;

	if (WARN_ON(offset & ((1UL << pool->min_alloc_order) - 1)))
		return size;
	want = offset >> pool->min_alloc_order;
	at = bitmap_find_next_zero_area(map, size, want, nr, 0);
	return at == want ? at : size;
}

unsigned long gen_pool_best_fit(unsigned long *map, unsigned long size, unsigned long start, unsigned int nr,
				void *data, struct gen_pool *pool, unsigned long start_addr)
{
	unsigned long best = size, best_length = size + 1, at, end;

	for (at = find_next_zero_bit(map, size, start); at < size; at = find_next_zero_bit(map, size, end)) {
		end = find_next_bit(map, size, at);
		if (end - at >= nr && end - at < best_length) {
			best = at;
			best_length = end - at;
		}
	}
	return best;
}

struct managed {
	struct gen_pool *pool;
};

static void release(struct device *dev, void *res) { gen_pool_destroy(((struct managed *)res)->pool); }

static int has_name(struct device *dev, void *res, void *match_data)
{
	const char *name = ((struct managed *)res)->pool->name;

	return name && match_data ? !strcmp(name, match_data) : name == match_data;
}

struct gen_pool *devm_gen_pool_create(struct device *dev, int min_alloc_order, int nid, const char *name)
{
	struct managed *managed;

	if (devres_find(dev, release, has_name, (void *)name))
		return ERR_PTR(-EINVAL);
	managed = devres_alloc(release, sizeof(*managed), GFP_KERNEL);
	if (!managed)
		return ERR_PTR(-ENOMEM);
	managed->pool = create(min_alloc_order, _RET_IP_);
	if (!managed->pool) {
		devres_free(managed);
		return ERR_PTR(-ENOMEM);
	}
	managed->pool->name = name ? kstrdup(name, GFP_KERNEL) : NULL;
	devres_add(dev, managed);
	return managed->pool;
}

struct gen_pool *gen_pool_get(struct device *dev, const char *name)
{
	struct managed *managed = devres_find(dev, release, has_name, (void *)name);

	return managed ? managed->pool : NULL;
}
