/* A kmem_cache of the six-argument days, with a constructor that takes three. */
#include <linux/module.h>
#include <linux/init.h>
#include <linux/slab.h>

struct thing {
	int magic;
	char text[44];
};
static kmem_cache_t *thing_cache;
static int constructed;

static void thing_ctor(void *obj, kmem_cache_t *cache, unsigned long flags)
{
	struct thing *t = obj;

	if ((flags & (SLAB_CTOR_VERIFY | SLAB_CTOR_CONSTRUCTOR)) == SLAB_CTOR_CONSTRUCTOR) {
		t->magic = 4711;
		constructed++;
	}
}

static int __init thing_init(void)
{
	struct thing *a, *b;

	thing_cache = kmem_cache_create("things", sizeof(struct thing), 0, SLAB_HWCACHE_ALIGN,
					thing_ctor, NULL);
	if (!thing_cache)
		return -ENOMEM;
	a = kmem_cache_alloc(thing_cache, SLAB_KERNEL);
	b = kmem_cache_alloc(thing_cache, SLAB_ATOMIC);
	printk(KERN_INFO "things: size %u name %s\n", kmem_cache_size(thing_cache),
	       kmem_cache_name(thing_cache));
	printk(KERN_INFO "things: magic %d %d, constructed %s\n", a->magic, b->magic,
	       constructed >= 2 ? "enough" : "too few");
	printk(KERN_INFO "things: aligned %d\n", ((unsigned long)a & 63) == 0);
	kmem_cache_free(thing_cache, b);
	kmem_cache_free(thing_cache, a);
	b = kmem_cache_alloc(thing_cache, GFP_KERNEL);
	printk(KERN_INFO "things: last in, first out: %s\n", a == b ? "yes" : "no");
	kmem_cache_free(thing_cache, b);
	return 0;
}

static void __exit thing_exit(void)
{
	kmem_cache_destroy(thing_cache);
	printk(KERN_INFO "things: destroyed\n");
}
module_init(thing_init);
module_exit(thing_exit);
MODULE_LICENSE("GPL");
