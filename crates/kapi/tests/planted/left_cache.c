// cache not destroyed
#include <linux/module.h>
#include <linux/slab.h>

static struct kmem_cache *cache;

static int __init begin(void)
{
	cache = kmem_cache_create("planted", 40, 0, 0, NULL); // in
	return cache ? 0 : -ENOMEM;
}

static void __exit end(void)
{
}

module_init(begin);
module_exit(end);
MODULE_LICENSE("GPL");
