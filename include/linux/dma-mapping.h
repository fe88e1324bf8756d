/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Memory as a device sees it: at its physical address, without an IOMMU. No device reads or writes, so that nothing
 * has to be made the same for it.
 */
#ifndef _LINUX_DMA_MAPPING_H
#define _LINUX_DMA_MAPPING_H

#include <linux/device.h>
#include <linux/mm.h>
#include <linux/sizes.h>
#include <linux/types.h>

enum dma_data_direction {
	DMA_BIDIRECTIONAL,
	DMA_TO_DEVICE,
	DMA_FROM_DEVICE,
	DMA_NONE
};

#define DMA_BIT_MASK(n) ((n) == 64 ? ~0ULL : (1ULL << (n)) - 1)
#define DMA_MAPPING_ERROR (~(dma_addr_t)0)
#define DMA_ATTR_WEAK_ORDERING (1UL << 1)
#define DMA_ATTR_WRITE_COMBINE (1UL << 2)
#define DMA_ATTR_SKIP_CPU_SYNC (1UL << 5)
#define DMA_ATTR_FORCE_CONTIGUOUS (1UL << 6)
#define DMA_ATTR_NO_WARN (1UL << 8)

extern int dma_set_mask(struct device *dev, u64 mask);
extern int dma_set_coherent_mask(struct device *dev, u64 mask);
extern int dma_set_mask_and_coherent(struct device *dev, u64 mask);
extern int dma_coerce_mask_and_coherent(struct device *dev, u64 mask);
static inline u64 dma_get_mask(struct device *dev)
{
	return dev->dma_mask && *dev->dma_mask ? *dev->dma_mask : DMA_BIT_MASK(32);
}

/* Zeroed, a power of two of pages, of which the size is the first part. */
extern void *dma_alloc_coherent(struct device *dev, size_t size, dma_addr_t *handle, gfp_t gfp);
extern void dma_free_coherent(struct device *dev, size_t size, void *cpu_addr, dma_addr_t handle);
extern void *dmam_alloc_coherent(struct device *dev, size_t size, dma_addr_t *handle, gfp_t gfp);
extern void dmam_free_coherent(struct device *dev, size_t size, void *cpu_addr, dma_addr_t handle);
#define dma_alloc_attrs(dev, size, handle, gfp, attrs) dma_alloc_coherent(dev, size, handle, gfp)
#define dma_free_attrs(dev, size, cpu, handle, attrs) dma_free_coherent(dev, size, cpu, handle)
#define dmam_alloc_attrs(dev, size, handle, gfp, attrs) dmam_alloc_coherent(dev, size, handle, gfp)
#define dma_alloc_wc(dev, size, handle, gfp) dma_alloc_coherent(dev, size, handle, gfp)
#define dma_free_wc(dev, size, cpu, handle) dma_free_coherent(dev, size, cpu, handle)

extern dma_addr_t dma_map_single_attrs(struct device *dev, void *ptr, size_t size, enum dma_data_direction dir,
				       unsigned long attrs);
extern dma_addr_t dma_map_page_attrs(struct device *dev, struct page *page, size_t offset, size_t size,
				     enum dma_data_direction dir, unsigned long attrs);
extern void dma_unmap_page_attrs(struct device *dev, dma_addr_t addr, size_t size, enum dma_data_direction dir,
				 unsigned long attrs);
extern int dma_mapping_error(struct device *dev, dma_addr_t addr);
#define dma_unmap_single_attrs(dev, addr, size, dir, attrs) dma_unmap_page_attrs(dev, addr, size, dir, attrs)
#define dma_map_single(dev, ptr, size, dir) dma_map_single_attrs(dev, ptr, size, dir, 0)
#define dma_unmap_single(dev, addr, size, dir) dma_unmap_page_attrs(dev, addr, size, dir, 0)
#define dma_map_page(dev, page, offset, size, dir) dma_map_page_attrs(dev, page, offset, size, dir, 0)
#define dma_unmap_page(dev, addr, size, dir) dma_unmap_page_attrs(dev, addr, size, dir, 0)

static inline bool valid_dma_direction(enum dma_data_direction dir) { return dir <= DMA_FROM_DEVICE; }
static inline void dma_sync_single_for_cpu(struct device *dev, dma_addr_t addr, size_t size,
					   enum dma_data_direction dir)
{
	BUG_ON(!valid_dma_direction(dir));
}
static inline void dma_sync_single_for_device(struct device *dev, dma_addr_t addr, size_t size,
					      enum dma_data_direction dir)
{
	BUG_ON(!valid_dma_direction(dir));
}
static inline int dma_get_cache_alignment(void) { return 1; }

#endif
