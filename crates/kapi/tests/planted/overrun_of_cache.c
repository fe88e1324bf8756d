// out-of-bounds write: byte 48 of a block of 48 bytes was written
#include <linux/module.h>
#include <linux/slab.h>

static int __init begin(void)
{
	struct kmem_cache *cache = kmem_cache_create("planted", 48, 0, 0, NULL);
	char *volatile object;

	if (!cache)
		return -ENOMEM;
	object = kmem_cache_alloc(cache, GFP_KERNEL); // allocated by
	if (!object)
		return -ENOMEM;
	object[48] = 1;
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
