// SPDX-License-Identifier: GPL-2.0-only
/*
 * zones: do objects of a cache that names a zone lie in it?
 *
 * Makes a cache with SLAB_CACHE_DMA and one with SLAB_CACHE_DMA32, allocates
 * objects as any driver would, and looks where they are. An allocator that
 * takes the flag of a cache for one of the caller's says so at each page, and
 * may give memory from anywhere.
 */
#include <linux/errno.h>
#include <linux/gfp.h>
#include <linux/init.h>
#include <linux/kernel.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/slab.h>

#define OBJECTS		600
#define OBJECT_SIZE	1024

static void *objects[OBJECTS];

/* Returns how many objects lie outside, or a negative error. */
static int outside(const char *name, slab_flags_t flags, enum zone_type highest)
{
	struct kmem_cache *cache;
	int i, found = 0;

	cache = kmem_cache_create(name, OBJECT_SIZE, 0, flags, NULL);
	if (!cache)
		return -ENOMEM;
	for (i = 0; i < OBJECTS; i++) {
		objects[i] = kmem_cache_alloc(cache, GFP_KERNEL);
		if (!objects[i]) {
			found = -ENOMEM;
			break;
		}
		if (page_zonenum(virt_to_page(objects[i])) > highest)
			found++;
	}
	while (i--)
		kmem_cache_free(cache, objects[i]);
	kmem_cache_destroy(cache);
	return found;
}

static int __init zones_init(void)
{
	int dma = 0, dma32 = 0;

#ifdef CONFIG_ZONE_DMA
	dma = outside("zones_dma", SLAB_CACHE_DMA, ZONE_DMA);
#endif
#ifdef CONFIG_ZONE_DMA32
	dma32 = outside("zones_dma32", SLAB_CACHE_DMA32, ZONE_DMA32);
#endif
	pr_info("zones: objects=%d dma_outside=%d dma32_outside=%d result=%s\n",
		OBJECTS, dma, dma32, dma || dma32 ? "bad" : "ok");
	return dma || dma32 ? -EIO : 0;
}

static void __exit zones_exit(void)
{
}

module_init(zones_init);
module_exit(zones_exit);
MODULE_DESCRIPTION("Whether objects of a cache with a zone lie in it");
MODULE_LICENSE("GPL");
