// SPDX-License-Identifier: MIT OR Apache-2.0
// Memory for devices: pages at their physical addresses.
#include "host.h"
#include <linux/dma-mapping.h>
#include <linux/irqflags.h>
#include <linux/kernel.h>
#include <linux/mm.h>
#include <linux/slab.h>

/* A mask that leaves out some of the machine's memory is refused only where nothing would fit (`dma_supported`). */
static bool supported(u64 mask) { return mask >= min(DMA_BIT_MASK(24), (u64)max_pfn << PAGE_SHIFT); }

int dma_set_mask(struct device *dev, u64 mask)
{
	if (!dev->dma_mask || !supported(mask))
		return -EIO;
	*dev->dma_mask = mask;
	return 0;
}

int dma_set_coherent_mask(struct device *dev, u64 mask)
{
	if (!supported(mask))
		return -EIO;
	dev->coherent_dma_mask = mask;
	return 0;
}

int dma_set_mask_and_coherent(struct device *dev, u64 mask)
{
	return dma_set_mask(dev, mask) ?: dma_set_coherent_mask(dev, mask);
}

int dma_coerce_mask_and_coherent(struct device *dev, u64 mask)
{
	dev->dma_mask = &dev->coherent_dma_mask;
	return dma_set_mask_and_coherent(dev, mask);
}

static void *coherent(struct device *dev, size_t size, dma_addr_t *handle, gfp_t gfp, unsigned long site)
{
	unsigned int order = (unsigned int)get_order(size);
	struct page *page;

	WARN_ON_ONCE(!dev->coherent_dma_mask);
	if (!size)
		return NULL;
	page = kapi_alloc_pages_for((gfp & ~(__GFP_DMA | __GFP_DMA32 | __GFP_HIGHMEM | __GFP_COMP)) | __GFP_ZERO,
				    order, site);
	if (!page)
		return NULL;
	*handle = page_to_phys(page);
	if (*handle + size - 1 <= dev->coherent_dma_mask)
		return page_address(page);
	kapi_free_pages_for(page, order, site);
	return NULL;
}

void *dma_alloc_coherent(struct device *dev, size_t size, dma_addr_t *handle, gfp_t gfp)
{
	return coherent(dev, size, handle, gfp, _RET_IP_);
}

void dma_free_coherent(struct device *dev, size_t size, void *cpu_addr, dma_addr_t handle)
{
	WARN_ON(irqs_disabled());
	if (cpu_addr)
		kapi_free_pages_for(virt_to_page(cpu_addr), (unsigned int)get_order(size), _RET_IP_);
}

struct managed {
	size_t size;
	void *cpu_addr;
	dma_addr_t handle;
};

static void release(struct device *dev, void *res)
{
	struct managed *managed = res;

	dma_free_coherent(dev, managed->size, managed->cpu_addr, managed->handle);
}

static int is_it(struct device *dev, void *res, void *match_data)
{
	return ((struct managed *)res)->cpu_addr == match_data;
}

void *dmam_alloc_coherent(struct device *dev, size_t size, dma_addr_t *handle, gfp_t gfp)
{
	struct managed *managed = devres_alloc(release, sizeof(*managed), gfp);
	void *cpu_addr = managed ? coherent(dev, size, handle, gfp, _RET_IP_) : NULL;

	if (!cpu_addr) {
		devres_free(managed);
		return NULL;
	}
	*managed = (struct managed){ size, cpu_addr, *handle };
	devres_add(dev, managed);
	return cpu_addr;
}

void dmam_free_coherent(struct device *dev, size_t size, void *cpu_addr, dma_addr_t handle)
{
	dma_free_coherent(dev, size, cpu_addr, handle);
	WARN_ON(devres_destroy(dev, release, is_it, cpu_addr));
}

static dma_addr_t map(struct device *dev, phys_addr_t phys, size_t size, enum dma_data_direction dir,
		      unsigned long attrs)
{
	BUG_ON(!valid_dma_direction(dir));
	if (WARN_ON_ONCE(!dev->dma_mask))
		return DMA_MAPPING_ERROR;
	if (phys + size - 1 <= *dev->dma_mask)
		return phys;
	if (!(attrs & DMA_ATTR_NO_WARN))
		dev_WARN_ONCE(dev, 1, "DMA addr %pad+%zu overflow (mask %llx, bus limit %llx).\n", &phys, size,
			      *dev->dma_mask, dev->bus_dma_limit);
	return DMA_MAPPING_ERROR;
}

dma_addr_t dma_map_single_attrs(struct device *dev, void *ptr, size_t size, enum dma_data_direction dir,
				unsigned long attrs)
{
	if (dev_WARN_ONCE(dev, is_vmalloc_addr(ptr), "rejecting DMA map of vmalloc memory\n"))
		return DMA_MAPPING_ERROR;
	return map(dev, virt_to_phys(ptr), size, dir, attrs);
}

dma_addr_t dma_map_page_attrs(struct device *dev, struct page *page, size_t offset, size_t size,
			      enum dma_data_direction dir, unsigned long attrs)
{
	return map(dev, page_to_phys(page) + offset, size, dir, attrs);
}

void dma_unmap_page_attrs(struct device *dev, dma_addr_t addr, size_t size, enum dma_data_direction dir,
			  unsigned long attrs)
{
	BUG_ON(!valid_dma_direction(dir));
}

int dma_mapping_error(struct device *dev, dma_addr_t addr) { return addr == DMA_MAPPING_ERROR ? -ENOMEM : 0; }
