/* A constructor that allocates, which is refused: it runs in the middle of an allocation. */
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/slab.h>

static void construct(void *object)
{
	kfree(kmalloc(64, GFP_ATOMIC));
}

static int __init ctor_allocates_init(void)
{
	struct kmem_cache *cache = kmem_cache_create("constructed", 64, 0, 0, construct);

	kmem_cache_free(cache, kmem_cache_alloc(cache, GFP_KERNEL));
	kmem_cache_destroy(cache);
	return 0;
}

static void __exit ctor_allocates_exit(void)
{
}
module_init(ctor_allocates_init);
module_exit(ctor_allocates_exit);
MODULE_LICENSE("GPL");
