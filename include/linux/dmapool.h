/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Pools of small blocks of coherent memory. */
#ifndef _LINUX_DMAPOOL_H
#define _LINUX_DMAPOOL_H

#include <linux/device.h>
#include <linux/gfp.h>
#include <linux/types.h>

struct dma_pool;

extern struct dma_pool *dma_pool_create(const char *name, struct device *dev, size_t size, size_t align,
					size_t boundary);
extern void dma_pool_destroy(struct dma_pool *pool);
extern void *dma_pool_alloc(struct dma_pool *pool, gfp_t gfp, dma_addr_t *handle);
extern void dma_pool_free(struct dma_pool *pool, void *block, dma_addr_t handle);
extern struct dma_pool *dmam_pool_create(const char *name, struct device *dev, size_t size, size_t align,
					 size_t allocation);
extern void dmam_pool_destroy(struct dma_pool *pool);
#define dma_pool_zalloc(pool, gfp, handle) dma_pool_alloc(pool, (gfp) | __GFP_ZERO, handle)
#define dma_pool_create_node(name, dev, size, align, boundary, node) dma_pool_create(name, dev, size, align, boundary)

#endif
