/* What a module can ask of its memory: sizes, alignment, which object comes again, and how far apart they lie. */
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/slab.h>

static size_t sizes[] = { 1, 8, 24, 32, 40, 64, 96, 100, 128, 192, 200, 256, 500, 512, 1000, 1024, 2048, 4000, 4096, 5000,
			  8192, 10000, 100000 };

static void ask_kmalloc(size_t size)
{
	char *a = kmalloc(size, GFP_KERNEL), *b = kmalloc(size, GFP_KERNEL), *c, *d;
	size_t room = ksize(a);
	bool aligned = !is_power_of_2(size) || IS_ALIGNED((unsigned long)a | (unsigned long)b, min_t(size_t, size, PAGE_SIZE));

	kfree(a);
	kfree(b);
	c = kmalloc(size, GFP_KERNEL);
	d = kmalloc(size, GFP_KERNEL);
	pr_info("kmalloc %zu: ksize %zu, aligned %d %d, last freed comes first %d %d\n", size, room, aligned,
		IS_ALIGNED((unsigned long)a | (unsigned long)b, 8), c == b, d == a);
	kfree(c);
	kfree(d);
}

static void ask_cache(unsigned int size, unsigned int align, slab_flags_t flags)
{
	struct kmem_cache *cache = kmem_cache_create("asked", size, align, flags, NULL);
	void *objects[6], *again[6];
	int i, reused = 0;

	for (i = 0; i < 6; i++)
		objects[i] = kmem_cache_alloc(cache, GFP_KERNEL);
	for (i = 0; i < 6; i++)
		kmem_cache_free(cache, objects[i]);
	for (i = 0; i < 6; i++) {
		again[i] = kmem_cache_alloc(cache, GFP_KERNEL);
		reused += again[i] == objects[5 - i];
	}
	pr_info("cache of %u: size %u, ksize %zu, aligned %d, %d of 6 come in the order of a stack\n", size,
		kmem_cache_size(cache), ksize(again[0]), !align || IS_ALIGNED((unsigned long)objects[3], align), reused);
	for (i = 0; i < 6; i++)
		kmem_cache_free(cache, again[i]);
	kmem_cache_destroy(cache);
}

static int __init answers_init(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(sizes); i++)
		ask_kmalloc(sizes[i]);
	ask_cache(40, 0, 0);
	ask_cache(100, 64, 0);
	ask_cache(24, 0, SLAB_HWCACHE_ALIGN);
	ask_cache(1000, 0, SLAB_HWCACHE_ALIGN);
	ask_cache(40, 0, SLAB_HWCACHE_ALIGN);
	pr_info("roundup %zu %zu\n", kmalloc_size_roundup(100), kmalloc_size_roundup(5000));
	return 0;
}

static void __exit answers_exit(void)
{
}

module_init(answers_init);
module_exit(answers_exit);
MODULE_LICENSE("GPL");
