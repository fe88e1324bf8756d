// sleep in atomic context: kmem_cache_create() may sleep, under a spinlock
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/spinlock.h>

static DEFINE_SPINLOCK(lock);

static int __init begin(void)
{
	struct kmem_cache *cache;

	spin_lock(&lock);
	cache = kmem_cache_create("planted", 40, 0, 0, NULL); // in
	spin_unlock(&lock);
	kmem_cache_destroy(cache);
	return 0;
}

static void __exit end(void)
{
}

module_init(begin);
module_exit(end);
MODULE_LICENSE("GPL");
