/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Allocators over memory of the module's choice: bits, of which each stands for a power of two of bytes. */
#ifndef _LINUX_GENALLOC_H
#define _LINUX_GENALLOC_H

#include <linux/atomic.h>
#include <linux/list.h>
#include <linux/spinlock.h>
#include <linux/types.h>

struct device;
struct gen_pool;

/* Returns the first of @nr free bits from @start on, at least @size if there are none. */
typedef unsigned long (*genpool_algo_t)(unsigned long *map, unsigned long size, unsigned long start, unsigned int nr,
					void *data, struct gen_pool *pool, unsigned long start_addr);

struct gen_pool {
	spinlock_t lock;
	struct list_head chunks;
	int min_alloc_order;
	genpool_algo_t algo;
	void *data;
	const char *name;
};

struct gen_pool_chunk {
	struct list_head next_chunk;
	atomic_long_t avail;
	phys_addr_t phys_addr;
	void *owner;
	/* The end is the last address. */
	unsigned long start_addr, end_addr;
	unsigned long bits[];
};

struct genpool_data_align {
	int align;
};
struct genpool_data_fixed {
	unsigned long offset;
};

typedef void(gen_pool_chunk_fn)(struct gen_pool *pool, struct gen_pool_chunk *chunk, void *data);

extern struct gen_pool *gen_pool_create(int min_alloc_order, int nid);
extern void gen_pool_destroy(struct gen_pool *pool);
extern struct gen_pool *devm_gen_pool_create(struct device *dev, int min_alloc_order, int nid, const char *name);
extern struct gen_pool *gen_pool_get(struct device *dev, const char *name);
extern int gen_pool_add_owner(struct gen_pool *pool, unsigned long virt, phys_addr_t phys, size_t size, int nid,
			      void *owner);
#define gen_pool_add_virt(pool, virt, phys, size, nid) gen_pool_add_owner(pool, virt, phys, size, nid, NULL)
#define gen_pool_add(pool, addr, size, nid) gen_pool_add_virt(pool, addr, -1, size, nid)

extern unsigned long gen_pool_alloc_algo_owner(struct gen_pool *pool, size_t size, genpool_algo_t algo, void *data,
					       void **owner);
extern unsigned long gen_pool_alloc(struct gen_pool *pool, size_t size);
extern unsigned long gen_pool_alloc_algo(struct gen_pool *pool, size_t size, genpool_algo_t algo, void *data);
extern void gen_pool_free_owner(struct gen_pool *pool, unsigned long addr, size_t size, void **owner);
extern void gen_pool_free(struct gen_pool *pool, unsigned long addr, size_t size);
extern void *gen_pool_dma_alloc(struct gen_pool *pool, size_t size, dma_addr_t *dma);
extern void *gen_pool_dma_zalloc(struct gen_pool *pool, size_t size, dma_addr_t *dma);
extern phys_addr_t gen_pool_virt_to_phys(struct gen_pool *pool, unsigned long addr);
extern void gen_pool_for_each_chunk(struct gen_pool *pool, gen_pool_chunk_fn *func, void *data);
extern size_t gen_pool_avail(struct gen_pool *pool);
extern size_t gen_pool_size(struct gen_pool *pool);
extern bool gen_pool_has_addr(struct gen_pool *pool, unsigned long start, size_t size);

extern void gen_pool_set_algo(struct gen_pool *pool, genpool_algo_t algo, void *data);
extern unsigned long gen_pool_first_fit(unsigned long *map, unsigned long size, unsigned long start, unsigned int nr,
					void *data, struct gen_pool *pool, unsigned long start_addr);
extern unsigned long gen_pool_first_fit_align(unsigned long *map, unsigned long size, unsigned long start,
					      unsigned int nr, void *data, struct gen_pool *pool,
					      unsigned long start_addr);
extern unsigned long gen_pool_first_fit_order_align(unsigned long *map, unsigned long size, unsigned long start,
						    unsigned int nr, void *data, struct gen_pool *pool,
						    unsigned long start_addr);
extern unsigned long gen_pool_fixed_alloc(unsigned long *map, unsigned long size, unsigned long start,
					  unsigned int nr, void *data, struct gen_pool *pool,
					  unsigned long start_addr);
extern unsigned long gen_pool_best_fit(unsigned long *map, unsigned long size, unsigned long start, unsigned int nr,
				       void *data, struct gen_pool *pool, unsigned long start_addr);

#endif
