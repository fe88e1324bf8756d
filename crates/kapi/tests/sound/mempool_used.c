// Nothing is wrong here: mempool used.
#include <linux/module.h>
#include <linux/mempool.h>
#include <linux/slab.h>

static struct kmem_cache *cache;
static mempool_t *pool;

static int __init begin(void)
{
	void *elements[6];
	int i;

	cache = kmem_cache_create("sound", 64, 0, 0, NULL);
	if (!cache)
		return -ENOMEM;
	pool = mempool_create_slab_pool(4, cache);
	if (!pool)
		return -ENOMEM;
	for (i = 0; i < 6; i++)
		elements[i] = mempool_alloc(pool, GFP_NOWAIT);
	while (i--)
		if (elements[i])
			mempool_free(elements[i], pool);
	return 0;
}

static void __exit end(void)
{
	mempool_destroy(pool);
	kmem_cache_destroy(cache);
}

module_init(begin);
module_exit(end);
MODULE_LICENSE("GPL");
