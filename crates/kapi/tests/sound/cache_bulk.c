// Nothing is wrong here: cache bulk.
#include <linux/module.h>
#include <linux/slab.h>

static void *objects[32];

static int __init begin(void)
{
	struct kmem_cache *cache = kmem_cache_create("sound", 72, 8, 0, NULL);

	if (!cache)
		return -ENOMEM;
	if (kmem_cache_alloc_bulk(cache, GFP_KERNEL, ARRAY_SIZE(objects), objects))
		kmem_cache_free_bulk(cache, ARRAY_SIZE(objects), objects);
	kmem_cache_destroy(cache);
	return 0;
}

static void __exit end(void)
{
}

module_init(begin);
module_exit(end);
MODULE_LICENSE("GPL");
