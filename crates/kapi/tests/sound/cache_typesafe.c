// Nothing is wrong here: cache typesafe.
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/rcupdate.h>

struct thing {
	long key;
};

static int __init begin(void)
{
	struct kmem_cache *cache = kmem_cache_create("sound", sizeof(struct thing), 0, SLAB_TYPESAFE_BY_RCU, NULL);
	struct thing *thing;

	if (!cache)
		return -ENOMEM;
	thing = kmem_cache_alloc(cache, GFP_KERNEL);
	if (thing) {
		thing->key = 5;
		rcu_read_lock();
		kmem_cache_free(cache, thing);
		pr_debug("%ld\n", READ_ONCE(thing->key));
		rcu_read_unlock();
	}
	kmem_cache_destroy(cache);
	return thing ? 0 : -ENOMEM;
}

static void __exit end(void)
{
}

module_init(begin);
module_exit(end);
MODULE_LICENSE("GPL");
