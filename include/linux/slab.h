/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * kmalloc() and kmem_cache: the allocator that the run was started with.
 *
 * Linux counterpart: include/linux/slab.h @ 2.6 to 7.3; where those differ, by the version that the module is built for.
 */
#ifndef _LINUX_SLAB_H
#define _LINUX_SLAB_H

#include <linux/gfp.h>
#include <linux/types.h>
#include <linux/kconfig.h>
#include <linux/overflow.h>
#include <linux/version.h>

#define SLAB_CONSISTENCY_CHECKS ((slab_flags_t)0x00000100U)
#define SLAB_RED_ZONE ((slab_flags_t)0x00000400U)
#define SLAB_POISON ((slab_flags_t)0x00000800U)
#define SLAB_HWCACHE_ALIGN ((slab_flags_t)0x00002000U)
#define SLAB_CACHE_DMA ((slab_flags_t)0x00004000U)
#define SLAB_CACHE_DMA32 ((slab_flags_t)0x00008000U)
#define SLAB_STORE_USER ((slab_flags_t)0x00010000U)
#define SLAB_RECLAIM_ACCOUNT ((slab_flags_t)0x00020000U)
#define SLAB_PANIC ((slab_flags_t)0x00040000U)
#define SLAB_TYPESAFE_BY_RCU ((slab_flags_t)0x00080000U)
#define SLAB_MEM_SPREAD ((slab_flags_t)0x00100000U)
#define SLAB_TRACE ((slab_flags_t)0x00200000U)
#define SLAB_NOLEAKTRACE ((slab_flags_t)0x00800000U)
#define SLAB_NO_MERGE ((slab_flags_t)0x01000000U)
#define SLAB_ACCOUNT ((slab_flags_t)0x04000000U)
#define SLAB_TEMPORARY SLAB_RECLAIM_ACCOUNT

/* Names that are gone. */
#define SLAB_DESTROY_BY_RCU SLAB_TYPESAFE_BY_RCU
#define SLAB_DEBUG_FREE SLAB_CONSISTENCY_CHECKS
#define SLAB_DEBUG_INITIAL ((slab_flags_t)0)
#define SLAB_MUST_HWCACHE_ALIGN SLAB_HWCACHE_ALIGN
#define SLAB_NO_REAP ((slab_flags_t)0)
#define SLAB_ATOMIC GFP_ATOMIC
#define SLAB_KERNEL GFP_KERNEL
#define SLAB_NOIO GFP_NOIO
#define SLAB_NOFS GFP_NOFS
#define SLAB_USER GFP_USER
#define SLAB_DMA GFP_DMA
#define SLAB_CTOR_CONSTRUCTOR 0x001UL
#define SLAB_CTOR_ATOMIC 0x002UL
#define SLAB_CTOR_VERIFY 0x004UL

#define ZERO_SIZE_PTR ((void *)16)
#define ZERO_OR_NULL_PTR(x) ((unsigned long)(x) <= (unsigned long)ZERO_SIZE_PTR)

#define KMALLOC_SHIFT_HIGH (PAGE_SHIFT + 1)
#define KMALLOC_SHIFT_MAX (MAX_PAGE_ORDER + PAGE_SHIFT)
#define KMALLOC_SHIFT_LOW 3
#define KMALLOC_MAX_SIZE (1UL << KMALLOC_SHIFT_MAX)
#define KMALLOC_MAX_CACHE_SIZE (1UL << KMALLOC_SHIFT_HIGH)
#define KMALLOC_MAX_ORDER (KMALLOC_SHIFT_MAX - PAGE_SHIFT)
#define KMALLOC_MIN_SIZE (1 << KMALLOC_SHIFT_LOW)
#define ARCH_KMALLOC_MINALIGN 8
#define ARCH_SLAB_MINALIGN 8

/* Fields are the allocator's own. */
struct kmem_cache;
typedef struct kmem_cache kmem_cache_t;

extern void *kmalloc(size_t size, gfp_t gfp);
extern void *kmalloc_node(size_t size, gfp_t gfp, int node);
extern void *kmalloc_track_caller(size_t size, gfp_t gfp);
extern void *kzalloc(size_t size, gfp_t gfp);
extern void *krealloc(const void *p, size_t size, gfp_t gfp);
extern void kfree(const void *p);
extern void kfree_sensitive(const void *p);
extern size_t ksize(const void *p);
extern size_t kmalloc_size_roundup(size_t size);
#define __kmalloc(size, gfp) kmalloc(size, gfp)
/* Of 7.x, for places where no lock may be waited for; here all may allocate. */
#define kmalloc_nolock(size, gfp, node) kmalloc_node(size, ((gfp) & __GFP_ZERO) | __GFP_NOWARN, node)
#define kfree_nolock(p) kfree(p)
#define kzalloc_node(size, gfp, node) kmalloc_node(size, (gfp) | __GFP_ZERO, node)
#define kzfree(p) kfree_sensitive(p)

static __always_inline void *kmalloc_array(size_t n, size_t size, gfp_t gfp)
{
	size_t bytes;

	if (check_mul_overflow(n, size, &bytes))
		return NULL;
	return kmalloc(bytes, gfp);
}

static __always_inline void *kcalloc(size_t n, size_t size, gfp_t gfp)
{
	return kmalloc_array(n, size, gfp | __GFP_ZERO);
}

static __always_inline void *krealloc_array(void *p, size_t n, size_t size, gfp_t gfp)
{
	size_t bytes;

	if (check_mul_overflow(n, size, &bytes))
		return NULL;
	return krealloc(p, bytes, gfp);
}
/*
 * Of 7.3, by a type or of the type of a variable: one, @n of them, or one that ends in an array @array of @n.
 * GFP_KERNEL if nothing else is asked for.
 */
#define __kapi_gfp(...) __KAPI_GFP(__VA_ARGS__ __VA_OPT__(,) GFP_KERNEL)
#define __KAPI_GFP(gfp, ...) (gfp)
#define __KAPI_OBJS(alloc, what, n, ...) \
	((typeof(what) *)alloc(size_mul(sizeof(typeof(what)), n), __kapi_gfp(__VA_ARGS__)))
#define __KAPI_FLEX(alloc, what, array, n, ...) \
	((typeof(what) *)alloc(size_add(sizeof(typeof(what)), \
					size_mul(sizeof(((typeof(what) *)0)->array[0]), n)), __kapi_gfp(__VA_ARGS__)))
#define kmalloc_obj(what, ...) __KAPI_OBJS(kmalloc, what, 1, ##__VA_ARGS__)
#define kzalloc_obj(what, ...) __KAPI_OBJS(kzalloc, what, 1, ##__VA_ARGS__)
#define kvmalloc_obj(what, ...) __KAPI_OBJS(kvmalloc, what, 1, ##__VA_ARGS__)
#define kvzalloc_obj(what, ...) __KAPI_OBJS(kvzalloc, what, 1, ##__VA_ARGS__)
#define kmalloc_objs(what, n, ...) __KAPI_OBJS(kmalloc, what, n, ##__VA_ARGS__)
#define kzalloc_objs(what, n, ...) __KAPI_OBJS(kzalloc, what, n, ##__VA_ARGS__)
#define kvmalloc_objs(what, n, ...) __KAPI_OBJS(kvmalloc, what, n, ##__VA_ARGS__)
#define kvzalloc_objs(what, n, ...) __KAPI_OBJS(kvzalloc, what, n, ##__VA_ARGS__)
#define kmalloc_flex(what, array, n, ...) __KAPI_FLEX(kmalloc, what, array, n, ##__VA_ARGS__)
#define kzalloc_flex(what, array, n, ...) __KAPI_FLEX(kzalloc, what, array, n, ##__VA_ARGS__)
#define kvmalloc_flex(what, array, n, ...) __KAPI_FLEX(kvmalloc, what, array, n, ##__VA_ARGS__)
#define kvzalloc_flex(what, array, n, ...) __KAPI_FLEX(kvzalloc, what, array, n, ##__VA_ARGS__)
#define kmalloc_array_node(n, size, gfp, node) kmalloc_node(size_mul(n, size), gfp, node)
#define kcalloc_node(n, size, gfp, node) kmalloc_array_node(n, size, (gfp) | __GFP_ZERO, node)

/* Host: of the last three, bytes for user space, the free pointer's offset or -1, and the objects of a sheaf or 0. */
extern struct kmem_cache *kapi_cache_create(const char *name, size_t size, size_t align, slab_flags_t flags,
					    void *ctor, unsigned int usersize, long freeptr, unsigned int sheaf);
extern void kmem_cache_destroy(struct kmem_cache *cache);
extern int kmem_cache_shrink(struct kmem_cache *cache);
extern void *kmem_cache_alloc(struct kmem_cache *cache, gfp_t gfp);
extern void *kmem_cache_alloc_node(struct kmem_cache *cache, gfp_t gfp, int node);
extern void *kmem_cache_zalloc(struct kmem_cache *cache, gfp_t gfp);
extern void kmem_cache_free(struct kmem_cache *cache, void *object);
/* All or nothing: the number of objects, of 7.x whether they are there. */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(7, 0, 0)
extern bool kmem_cache_alloc_bulk(struct kmem_cache *cache, gfp_t gfp, size_t n, void **objects);
#else
extern int kmem_cache_alloc_bulk(struct kmem_cache *cache, gfp_t gfp, size_t n, void **objects);
#endif
extern void kmem_cache_free_bulk(struct kmem_cache *cache, size_t n, void **objects);
extern void kfree_bulk(size_t n, void **objects);
extern unsigned int kmem_cache_size(struct kmem_cache *cache);
extern const char *kmem_cache_name(struct kmem_cache *cache);

/* Of 6.12: what is not said by name, size and flags. Of 7.x: sheaf_capacity. */
struct kmem_cache_args {
	unsigned int align;
	unsigned int useroffset, usersize;
	unsigned int freeptr_offset;
	bool use_freeptr_offset;
	void (*ctor)(void *object);
	unsigned int sheaf_capacity;
};

extern struct kmem_cache *__kmem_cache_create_args(const char *name, unsigned int size, struct kmem_cache_args *args,
						   slab_flags_t flags);

/*
 * kmem_cache_create(name, size, align, flags, ctor), and with a sixth argument, the destructor,
 * up to 2.6.22. A constructor gets the object; the older forms got (object, cache, flags), which
 * is what it is called with, or between 2.6.24 and 2.6.26 (cache, object).
 * Since 6.12 also kmem_cache_create(name, size, args, flags), where NULL is for none.
 */
#ifdef KAPI_RUNTIME
#define __kapi_cache_new(...) kapi_cache_create(__VA_ARGS__)
#else
#define __kapi_cache_new(...) \
	(kapi_might_alloc("kmem_cache_create", GFP_KERNEL), kapi_cache_create(__VA_ARGS__))
#endif
#define kmem_cache_create(...) KAPI_BY_COUNT(__kapi_cache_create_, __VA_ARGS__)
#define __kapi_cache_create_4(name, size, args, flags) __kmem_cache_create_args(name, size, args, flags)
#define __kapi_cache_create_5(name, size, align, flags, ctor) \
	__kapi_cache_new(name, size, align, flags, (void *)(ctor), 0, -1, 0)
#define __kapi_cache_create_6(name, size, align, flags, ctor, dtor) \
	__kapi_cache_new(name, size, align, flags, (void *)(ctor), 0, -1, 0)
#define kmem_cache_create_usercopy(name, size, align, flags, offset, bytes, ctor) \
	__kapi_cache_new(name, size, align, flags, (void *)(ctor), bytes, -1, 0)

#define KMEM_CACHE(type, flags) \
	__kapi_cache_new(#type, sizeof(struct type), __alignof__(struct type), flags, NULL, 0, -1, 0)
#define KMEM_CACHE_USERCOPY(type, flags, field) \
	__kapi_cache_new(#type, sizeof(struct type), __alignof__(struct type), flags, NULL, \
			  sizeof(((struct type *)0)->field), -1, 0)

/*
 * Of 6.12: caches of its own for what one caller asks by size; kfree() frees. Where the machine's kfree() knows no
 * objects of caches (SLOB, SLMB, dense) they are kmalloc's.
 */
typedef struct kmem_buckets {
	struct kmem_cache *kapi_caches[KMALLOC_SHIFT_HIGH + 1];
} kmem_buckets;
extern void *kapi_bucket_alloc(struct kmem_cache *cache, size_t size, gfp_t gfp);
extern struct kmem_cache *kapi_bucket_of(kmem_buckets *buckets, size_t size);
extern kmem_buckets *kmem_buckets_create(const char *name, slab_flags_t flags, unsigned int useroffset,
					 unsigned int usersize, void (*ctor)(void *object));
#define kmem_buckets_alloc(buckets, size, gfp) ({ \
	size_t __kapi_size = (size); \
	kapi_bucket_alloc(kapi_bucket_of(buckets, __kapi_size), __kapi_size, gfp); })
#define kmem_buckets_alloc_track_caller(buckets, size, gfp) kmem_buckets_alloc(buckets, size, gfp)
#define kmem_buckets_alloc_node_track_caller(buckets, size, gfp, node) kmem_buckets_alloc(buckets, size, gfp)
#define kmem_buckets_valloc(buckets, size, gfp) ({ \
	size_t __kapi_bytes = (size); \
	__kapi_bytes > KMALLOC_MAX_CACHE_SIZE ? kvmalloc(__kapi_bytes, gfp) : \
	kmem_buckets_alloc(buckets, __kapi_bytes, gfp); })

/* Of 7.x: a filled array of a cache's objects, so that as many allocations as it has cannot fail. */
struct slab_sheaf {
	unsigned int size, capacity;
	void *objects[];
};
extern struct slab_sheaf *kmem_cache_prefill_sheaf(struct kmem_cache *cache, gfp_t gfp, unsigned int size);
extern int kmem_cache_refill_sheaf(struct kmem_cache *cache, gfp_t gfp, struct slab_sheaf **sheaf, unsigned int size);
extern void kmem_cache_return_sheaf(struct kmem_cache *cache, gfp_t gfp, struct slab_sheaf *sheaf);
extern void *kmem_cache_alloc_from_sheaf(struct kmem_cache *cache, gfp_t gfp, struct slab_sheaf *sheaf);
extern unsigned int kmem_cache_sheaf_size(struct slab_sheaf *sheaf);

/* There are no memory control groups to charge. */
static inline bool kmem_cache_charge(void *object, gfp_t gfp) { return object || gfp; }

extern void *kvmalloc_node(size_t size, gfp_t gfp, int node);
extern void *kvmalloc(size_t size, gfp_t gfp);
extern void kvfree(const void *p);
extern void kvfree_sensitive(const void *p, size_t size);
#define kvzalloc_node(size, gfp, node) kvmalloc_node(size, (gfp) | __GFP_ZERO, node)
#define kvzalloc(size, gfp) kvmalloc(size, (gfp) | __GFP_ZERO)

static __always_inline void *kvmalloc_array(size_t n, size_t size, gfp_t gfp)
{
	size_t bytes;

	if (check_mul_overflow(n, size, &bytes))
		return NULL;
	return kvmalloc(bytes, gfp);
}
#define kvcalloc(n, size, gfp) kvmalloc_array(n, size, (gfp) | __GFP_ZERO)
#define kvmalloc_array_node(n, size, gfp, node) kvmalloc_array(n, size, gfp)
#define kvcalloc_node(n, size, gfp, node) kvcalloc(n, size, gfp)
#define kvfree_atomic(p) kvfree(p)

/* kvrealloc(p, size, gfp); before 6.12 kvrealloc(p, old_size, size, gfp), with a copy whenever it grows. */
extern void *kapi_kvrealloc(const void *p, size_t size, gfp_t gfp);
#define kvrealloc(...) KAPI_BY_COUNT(__kapi_kvrealloc_, __VA_ARGS__)
#define __kapi_kvrealloc_3(p, size, gfp) kapi_kvrealloc(p, size, gfp)
#define __kapi_kvrealloc_4(p, old, size, gfp) ((void)(old), kapi_kvrealloc(p, size, gfp))

/* Of 7.x: aligned, and with a node; there is one. A block of a power of two lies at a multiple of its size. */
extern void *krealloc_node_align(const void *p, size_t size, unsigned long align, gfp_t gfp, int node);
extern void *kvrealloc_node_align(const void *p, size_t size, unsigned long align, gfp_t gfp, int node);
#define krealloc_node(p, size, gfp, node) krealloc(p, size, gfp)
#define kvrealloc_node(p, size, gfp, node) kapi_kvrealloc(p, size, gfp)

#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 5, 0)
#include <linux/cleanup.h>
DEFINE_FREE(kfree, void *, if (!IS_ERR_OR_NULL(_T)) kfree(_T))
DEFINE_FREE(kfree_sensitive, void *, if (_T) kfree_sensitive(_T))
DEFINE_FREE(kvfree, void *, if (!IS_ERR_OR_NULL(_T)) kvfree(_T))
DEFINE_FREE(kvfree_atomic, void *, if (!IS_ERR_OR_NULL(_T)) kvfree(_T))
#endif

#endif
