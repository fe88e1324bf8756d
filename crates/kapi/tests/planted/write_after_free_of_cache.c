// write to freed memory
#include <linux/module.h>
#include <linux/slab.h>

static struct kmem_cache *cache;

static int __init begin(void)
{
	long *volatile object;

	cache = kmem_cache_create("planted", 96, 0, 0, NULL);
	if (!cache)
		return -ENOMEM;
	object = kmem_cache_alloc(cache, GFP_KERNEL); // allocated by
	if (!object)
		return -ENOMEM;
	kmem_cache_free(cache, object); // freed before by
	object[5] = 1;
	return 0;
}

static void __exit end(void)
{
	kmem_cache_destroy(cache);
}

module_init(begin);
module_exit(end);
MODULE_LICENSE("GPL");
