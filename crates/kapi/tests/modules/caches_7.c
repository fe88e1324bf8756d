// Caches by struct kmem_cache_args, buckets, sheaves, resizing: what came with 6.12 and 7.
#include <linux/cleanup.h>
#include <linux/module.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/version.h>
#include <linux/vmalloc.h>

struct thing {
	unsigned long first;
	char name[24];
	void *link;
	struct rcu_head rcu;
};

static int constructed;
static void construct(void *object)
{
	struct thing *thing = object;

	thing->first = 7;
	constructed++;
}

static void by_args(void)
{
	struct kmem_cache_args args = {
		.align = 64,
		.useroffset = offsetof(struct thing, name),
		.usersize = sizeof_field(struct thing, name),
		.freeptr_offset = offsetof(struct thing, link),
		.use_freeptr_offset = true,
		.ctor = construct,
		.sheaf_capacity = 32,
	};
	struct kmem_cache *with = kmem_cache_create("thing", sizeof(struct thing), &args, SLAB_TYPESAFE_BY_RCU);
	struct kmem_cache *without = kmem_cache_create("plain_thing", sizeof(struct thing), NULL, 0);
	struct kmem_cache *old = kmem_cache_create("old_thing", sizeof(struct thing), 0, SLAB_HWCACHE_ALIGN, NULL);
	struct kmem_cache *typed = KMEM_CACHE(thing, 0), *user = KMEM_CACHE_USERCOPY(thing, 0, name);
	struct thing *thing = kmem_cache_alloc(with, GFP_KERNEL);
	void *objects[20];
	int i, good = 0;

	pr_info("args: constructed %d, first %lu, aligned %d, size %u\n", constructed > 0, thing->first,
		((unsigned long)thing & 63) == 0, kmem_cache_size(with));
	kmem_cache_free(with, thing);
	args.ctor = NULL;
	pr_info("args: a free pointer that is not needed there %d\n", kmem_cache_create("bad", 64, &args, 0) == NULL);
	good = kmem_cache_alloc_bulk(without, GFP_KERNEL, ARRAY_SIZE(objects), objects);
	pr_info("bulk: %d\n", LINUX_VERSION_CODE >= KERNEL_VERSION(7, 0, 0) ? good == true : good == 20);
	kmem_cache_free_bulk(without, 10, objects);
	/* Without a cache they are freed as what they are. */
	kmem_cache_free_bulk(NULL, 10, objects + 10);
	/* What kfree_rcu() has yet to free is no object that is left. */
	for (i = 0; i < 100; i++) {
		thing = kmem_cache_alloc(typed, GFP_KERNEL);
		kfree_rcu(thing, rcu);
	}
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 12, 0)
	/* Up to then that was the module's to see to. */
	rcu_barrier();
#endif
	kmem_cache_destroy(typed);
	kmem_cache_destroy(with);
	kmem_cache_destroy(without);
	kmem_cache_destroy(old);
	kmem_cache_destroy(user);
	kmem_cache_destroy(NULL);
}

static void by_bucket(void)
{
	kmem_buckets *mine = kmem_buckets_create("mine", SLAB_ACCOUNT, 0, 64, NULL);
	size_t sizes[] = { 1, 8, 13, 64, 100, 4096, 8192, 20000 };
	void *blocks[ARRAY_SIZE(sizes)], *area = kmem_buckets_valloc(mine, 100000, GFP_KERNEL);
	int i, good = 0;

	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		blocks[i] = i % 2 ? kmem_buckets_alloc(mine, sizes[i], GFP_KERNEL | __GFP_ZERO) :
				    kmem_buckets_alloc_track_caller(mine, sizes[i], GFP_KERNEL);
		good += blocks[i] && ksize(blocks[i]) >= sizes[i];
		memset(blocks[i], i, sizes[i]);
	}
	pr_info("buckets: %d of %d, none %d\n", good, (int)ARRAY_SIZE(sizes),
		kmem_buckets_alloc(mine, 0, GFP_KERNEL) == ZERO_SIZE_PTR);
	for (i = 0; i < ARRAY_SIZE(sizes); i++)
		kfree(blocks[i]);
	kvfree(area);
	kfree(mine);
}

static void by_sheaf(void)
{
	struct kmem_cache *cache = KMEM_CACHE(thing, 0);
	struct slab_sheaf *sheaf = kmem_cache_prefill_sheaf(cache, GFP_KERNEL, 8);
	struct thing *thing = kmem_cache_alloc_from_sheaf(cache, GFP_NOWAIT | __GFP_ZERO, sheaf);

	pr_info("sheaf: %u left, zero %lu\n", kmem_cache_sheaf_size(sheaf), thing->first);
	kmem_cache_refill_sheaf(cache, GFP_KERNEL, &sheaf, 40);
	pr_info("sheaf: %u\n", kmem_cache_sheaf_size(sheaf));
	kmem_cache_return_sheaf(cache, GFP_KERNEL, sheaf);
	kmem_cache_free(cache, thing);
	kmem_cache_destroy(cache);
}

static void by_size(void)
{
	char *block = krealloc(NULL, 10, GFP_KERNEL), *area;

	strcpy(block, "123456789");
	block = krealloc(block, 3000, GFP_KERNEL);
	block = krealloc_node_align(block, 4096, 4096, GFP_KERNEL, NUMA_NO_NODE);
	pr_info("resized: %s, %zu bytes and more\n", block, min(ksize(block), (size_t)4096));
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 12, 0)
	area = kvrealloc(block, 9 << 20, GFP_KERNEL);
	area = kvrealloc(area, 10 << 20, GFP_KERNEL);
#else
	area = kvrealloc(block, 4096, 9 << 20, GFP_KERNEL);
	area = kvrealloc(area, 9 << 20, 10 << 20, GFP_KERNEL);
#endif
	area[(10 << 20) - 1] = 1;
	pr_info("resized: %s, an area %d\n", area, is_vmalloc_addr(area));
	kvfree(area);
	{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 5, 0)
		void *p __free(kfree) = kmalloc(100, GFP_KERNEL);
		void *q __free(kvfree) = kvmalloc(100, GFP_KERNEL);

		pr_info("freed with the scope: %d\n", p && q);
#else
		pr_info("freed with the scope: 1\n");
#endif
	}
}

static int __init caches_7_init(void)
{
	by_args();
	by_bucket();
	by_sheaf();
	by_size();
	kfree_rcu_mightsleep(kmalloc(10, GFP_KERNEL));
	return 0;
}

static void __exit caches_7_exit(void)
{
	rcu_barrier();
}
module_init(caches_7_init);
module_exit(caches_7_exit);
MODULE_LICENSE("GPL");
