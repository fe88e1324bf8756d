/*
 * Why does kmalloc(40) take 64 bytes, while an object of a cache of 40 bytes takes 40? Allocates as many of each, and of
 * 32 bytes, and prints how far the second object lies from the first.
 */
#include <linux/init.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/slab.h>

#define OBJECTS 24

struct item {
	u64 words[5];
};

static struct kmem_cache *item_cache;
static void *forty[OBJECTS], *thirty_two[OBJECTS], *items[OBJECTS];

static int take_by_size(void **objects, size_t size)
{
	int i;

	for (i = 0; i < OBJECTS; i++) {
		objects[i] = kmalloc(size, GFP_KERNEL);
		if (!objects[i])
			return -ENOMEM;
	}
	return 0;
}

static int take_items(void)
{
	int i;

	for (i = 0; i < OBJECTS; i++) {
		items[i] = kmem_cache_alloc(item_cache, GFP_KERNEL);
		if (!items[i])
			return -ENOMEM;
	}
	return 0;
}

static void show(const char *what, void **objects)
{
	pr_info("%s: the second lies %ld bytes behind the first\n", what, (long)(objects[1] - objects[0]));
}

static void give_all(void)
{
	int i;

	for (i = 0; i < OBJECTS; i++) {
		kfree(forty[i]);
		kfree(thirty_two[i]);
		if (items[i])
			kmem_cache_free(item_cache, items[i]);
	}
	kmem_cache_destroy(item_cache);
}

static int __init forty_init(void)
{
	item_cache = kmem_cache_create("item", sizeof(struct item), 0, 0, NULL);
	if (!item_cache)
		return -ENOMEM;
	if (take_by_size(forty, 40) || take_by_size(thirty_two, 32) || take_items()) {
		give_all();
		return -ENOMEM;
	}
	show("kmalloc(40)", forty);
	show("kmalloc(32)", thirty_two);
	show("cache of 40", items);
	return 0;
}

static void __exit forty_exit(void)
{
	give_all();
}

module_init(forty_init);
module_exit(forty_exit);
MODULE_DESCRIPTION("What 40 bytes take by kmalloc() and from a cache of their own");
MODULE_LICENSE("GPL");
