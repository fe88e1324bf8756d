// mismatched free: freed by kmem_cache_free of cache `second`, not by kmem_cache_free of cache `first`
#include <linux/module.h>
#include <linux/slab.h>

static int __init begin(void)
{
	struct kmem_cache *first = kmem_cache_create("first", 48, 0, SLAB_NO_MERGE, NULL);
	struct kmem_cache *second = kmem_cache_create("second", 48, 0, SLAB_NO_MERGE, NULL);
	void *object;

	if (!first || !second)
		return -ENOMEM;
	object = kmem_cache_alloc(first, GFP_KERNEL); // allocated by
	kmem_cache_free(second, object); // in
	kmem_cache_destroy(first);
	kmem_cache_destroy(second);
	return 0;
}

static void __exit end(void)
{
}

module_init(begin);
module_exit(end);
MODULE_LICENSE("GPL");
