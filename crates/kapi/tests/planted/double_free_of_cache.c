// double free: freed twice
#include <linux/module.h>
#include <linux/slab.h>

static int __init begin(void)
{
	struct kmem_cache *cache = kmem_cache_create("planted", 48, 0, 0, NULL);
	void *volatile object;

	if (!cache)
		return -ENOMEM;
	object = kmem_cache_alloc(cache, GFP_KERNEL); // allocated by
	kmem_cache_free(cache, object); // freed before by
	kmem_cache_free(cache, object); // in
	kmem_cache_destroy(cache);
	return 0;
}

static void __exit end(void)
{
}

module_init(begin);
module_exit(end);
MODULE_LICENSE("GPL");
