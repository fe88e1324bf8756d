// sleep in atomic context: kmem_cache_destroy() may sleep, under a spinlock
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/spinlock.h>

static DEFINE_SPINLOCK(lock);

static int __init begin(void)
{
	struct kmem_cache *cache = kmem_cache_create("planted", 40, 0, 0, NULL);

	spin_lock(&lock);
	kmem_cache_destroy(cache); // in
	spin_unlock(&lock);
	return 0;
}

static void __exit end(void)
{
}

module_init(begin);
module_exit(end);
MODULE_LICENSE("GPL");
