// sleep in atomic context: kmem_cache_alloc() with GFP_KERNEL may sleep, in an RCU read-side section
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/rcupdate.h>

static int __init begin(void)
{
	struct kmem_cache *cache = kmem_cache_create("planted", 40, 0, 0, NULL);
	void *object;

	rcu_read_lock();
	object = kmem_cache_alloc(cache, GFP_KERNEL); // in
	rcu_read_unlock();
	kmem_cache_free(cache, object);
	kmem_cache_destroy(cache);
	return 0;
}

static void __exit end(void)
{
}

module_init(begin);
module_exit(end);
MODULE_LICENSE("GPL");
