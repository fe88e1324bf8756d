// SPDX-License-Identifier: MIT OR Apache-2.0
// What the allocator's header has beyond single blocks: arguments of caches, buckets, sheaves, aligned resizing.
#include "host.h"
#include <linux/kernel.h>
#include <linux/log2.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/vmalloc.h>

/* Host: with the place that asks for it. */
extern void kapi_cache_destroy(struct kmem_cache *cache, unsigned long site);

struct kmem_cache *__kmem_cache_create_args(const char *name, unsigned int size, struct kmem_cache_args *args,
					    slab_flags_t flags)
{
	static struct kmem_cache_args none;
	bool keeps = flags & SLAB_TYPESAFE_BY_RCU;
	unsigned int usersize;

	might_sleep();
	kapi_nodes_for(kapi_module_site());
	args = args ?: &none;
	usersize = args->usersize;
	if (usersize > size || args->useroffset > size - usersize) {
		WARN(1, "kmem_cache_create(%s): the part for user space is not inside\n", name);
		usersize = 0;
	}
	/* Of other caches the free pointer lies where it may; since 7.0 those with a constructor may say where, too. */
	keeps = keeps || (args->ctor && LINUX_VERSION_CODE >= KERNEL_VERSION(7, 0, 0));
	if (args->use_freeptr_offset && !keeps) {
		WARN(1, "kmem_cache_create(%s): an offset of the free pointer without need\n", name);
		return NULL;
	}
	return kapi_cache_create(name, size, args->align, flags, (void *)args->ctor, usersize,
				 args->use_freeptr_offset ? (long)args->freeptr_offset : -1,
				 LINUX_VERSION_CODE >= KERNEL_VERSION(7, 0, 0) ? args->sheaf_capacity : 0);
}

/* Since 6.12 it waits for what kfree_rcu() is about to free: before, that was the module's to do. */
void kmem_cache_destroy(struct kmem_cache *cache)
{
	unsigned long site = _RET_IP_;

	might_sleep();
	if (cache && LINUX_VERSION_CODE >= KERNEL_VERSION(6, 12, 0))
		kvfree_rcu_barrier();
	kapi_cache_destroy(cache, site);
}

/* The smallest bucket: below, blocks of different callers would hardly ever share a slab. */
#define BUCKET_SHIFT_LOW 3

kmem_buckets *kmem_buckets_create(const char *name, slab_flags_t flags, unsigned int useroffset,
				  unsigned int usersize, void (*ctor)(void *object))
{
	kmem_buckets *buckets;
	char text[64];
	int shift;

	/* Blocks that are constructed and freed by kfree() would have to stay as they are: nobody knows how. */
	if (WARN_ON(ctor))
		return NULL;
	buckets = kzalloc(sizeof(*buckets), GFP_KERNEL);
	if (!buckets)
		return NULL;
	for (shift = BUCKET_SHIFT_LOW; shift <= KMALLOC_SHIFT_HIGH; shift++) {
		unsigned int size = 1U << shift;
		unsigned int bytes = useroffset < size ? min(usersize, size - useroffset) : 0;

		snprintf(text, sizeof(text), "%s-%u", name, size);
		/* Without one of its own a size is kmalloc's. */
		buckets->kapi_caches[shift] = kapi_cache_create(text, size, 0, flags | SLAB_NO_MERGE | KAPI_SLAB_STAYS,
								NULL, bytes, -1, 0);
	}
	return buckets;
}

/* The cache for a size; NULL for what kmalloc() is to serve. */
struct kmem_cache *kapi_bucket_of(kmem_buckets *buckets, size_t size)
{
	unsigned int shift = size > 1 ? (unsigned int)fls64(size - 1) : 0;

	if (!buckets || !size || shift > KMALLOC_SHIFT_HIGH)
		return NULL;
	return buckets->kapi_caches[max(shift, (unsigned int)BUCKET_SHIFT_LOW)];
}

static bool fill(struct kmem_cache *cache, gfp_t gfp, struct slab_sheaf *sheaf, unsigned int size)
{
	unsigned int lacks = size - sheaf->size;

	if (sheaf->size >= size)
		return true;
	if (!kmem_cache_alloc_bulk(cache, gfp, lacks, sheaf->objects + sheaf->size))
		return false;
	sheaf->size = size;
	return true;
}

static struct slab_sheaf *sheaf_of(unsigned int capacity)
{
	struct slab_sheaf *sheaf = kapi_alloc(struct_size(sheaf, objects, capacity));

	if (sheaf) {
		sheaf->size = 0;
		sheaf->capacity = capacity;
	}
	return sheaf;
}

static void drop(struct slab_sheaf *sheaf) { kapi_free(sheaf, struct_size(sheaf, objects, sheaf->capacity)); }

struct slab_sheaf *kmem_cache_prefill_sheaf(struct kmem_cache *cache, gfp_t gfp, unsigned int size)
{
	struct slab_sheaf *sheaf = size ? sheaf_of(size) : NULL;

	if (sheaf && !fill(cache, gfp, sheaf, size)) {
		drop(sheaf);
		return NULL;
	}
	return sheaf;
}

int kmem_cache_refill_sheaf(struct kmem_cache *cache, gfp_t gfp, struct slab_sheaf **sheafp, unsigned int size)
{
	struct slab_sheaf *sheaf = *sheafp, *larger;

	if (size > sheaf->capacity) {
		larger = sheaf_of(size);
		if (!larger)
			return -ENOMEM;
		larger->size = sheaf->size;
		memcpy(larger->objects, sheaf->objects, sheaf->size * sizeof(sheaf->objects[0]));
		drop(sheaf);
		*sheafp = sheaf = larger;
	}
	return fill(cache, gfp, sheaf, size) ? 0 : -ENOMEM;
}

void kmem_cache_return_sheaf(struct kmem_cache *cache, gfp_t gfp, struct slab_sheaf *sheaf)
{
	kmem_cache_free_bulk(cache, sheaf->size, sheaf->objects);
	drop(sheaf);
}

void *kmem_cache_alloc_from_sheaf(struct kmem_cache *cache, gfp_t gfp, struct slab_sheaf *sheaf)
{
	void *object = sheaf->size ? sheaf->objects[--sheaf->size] : NULL;

	if (object && (gfp & __GFP_ZERO))
		memset(object, 0, kmem_cache_size(cache));
	return object;
}

unsigned int kmem_cache_sheaf_size(struct slab_sheaf *sheaf) { return sheaf->size; }

static bool aligned(const void *p, unsigned long align) { return !align || IS_ALIGNED((unsigned long)p, align); }

/* A block of the next power of two lies at a multiple of its own size; what grows into one is copied by hand. */
static void *resize(const void *p, size_t size, unsigned long align, gfp_t gfp,
		    void *(*alloc)(size_t size, gfp_t gfp))
{
	void *moved = alloc(max(roundup_pow_of_two(size), align), gfp);

	if (moved && !ZERO_OR_NULL_PTR(p)) {
		memcpy(moved, p, min(size, ksize(p)));
		kfree(p);
	}
	return moved;
}

void *krealloc_node_align(const void *p, size_t size, unsigned long align, gfp_t gfp, int node)
{
	bool small = align <= ARCH_KMALLOC_MINALIGN;

	if (!size || small || (!ZERO_OR_NULL_PTR(p) && ksize(p) >= size && aligned(p, align)))
		return krealloc(p, size, gfp);
	return resize(p, size, align, gfp, kmalloc);
}

/* An area begins at a page. */
void *kvrealloc_node_align(const void *p, size_t size, unsigned long align, gfp_t gfp, int node)
{
	if (!size || align <= ARCH_KMALLOC_MINALIGN || is_vmalloc_addr(p) || size > KMALLOC_MAX_CACHE_SIZE)
		return kapi_kvrealloc(p, size, gfp);
	return krealloc_node_align(p, size, align, gfp, node);
}
