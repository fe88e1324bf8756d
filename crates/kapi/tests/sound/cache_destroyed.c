// Nothing is wrong here: cache destroyed.
#include <linux/module.h>
#include <linux/slab.h>

struct thing {
	int magic;
	char name[28];
};

static void constructs(void *object)
{
	struct thing *thing = object;

	thing->magic = 4711;
}

static int __init begin(void)
{
	struct kmem_cache *cache = kmem_cache_create("sound", sizeof(struct thing), 0, SLAB_HWCACHE_ALIGN, constructs);
	struct thing *things[20];
	int i, good = 1;

	if (!cache)
		return -ENOMEM;
	for (i = 0; i < 20; i++) {
		things[i] = kmem_cache_alloc(cache, GFP_KERNEL);
		good &= things[i] && things[i]->magic == 4711;
	}
	for (i = 0; i < 20; i++)
		if (things[i])
			kmem_cache_free(cache, things[i]);
	kmem_cache_destroy(cache);
	return good ? 0 : -EINVAL;
}

static void __exit end(void)
{
}

module_init(begin);
module_exit(end);
MODULE_LICENSE("GPL");
