// cache destroyed with live objects
#include <linux/module.h>
#include <linux/slab.h>

static struct kmem_cache *cache;
static void *volatile kept;

static int __init begin(void)
{
	cache = kmem_cache_create("planted", 48, 0, 0, NULL);
	if (!cache)
		return -ENOMEM;
	kept = kmem_cache_alloc(cache, GFP_KERNEL); // allocated by
	return 0;
}

static void __exit end(void)
{
	kmem_cache_destroy(cache); // in
}

module_init(begin);
module_exit(end);
MODULE_LICENSE("GPL");
