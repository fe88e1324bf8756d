// SPDX-License-Identifier: GPL-2.0-only
/*
 * lifo: in which order does a kmem_cache reuse its objects?
 *
 * Allocates objects from a cache of its own, frees them first to last, and
 * allocates as many again. Prints which of the first objects each of the second
 * ones is, and calls the order lifo if the last one freed came first all along.
 * Runs on one CPU without being preempted.
 */
#include <linux/errno.h>
#include <linux/gfp.h>
#include <linux/init.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/preempt.h>
#include <linux/slab.h>
#include <linux/string.h>

#define OBJECTS_MAX	64

static unsigned int objects = 8;
module_param(objects, uint, 0444);
MODULE_PARM_DESC(objects, "how many, up to 64");
static unsigned int size = 64;
module_param(size, uint, 0444);
MODULE_PARM_DESC(size, "bytes of an object, up to a page");

static void *first[OBJECTS_MAX], *second[OBJECTS_MAX];

/* A cache with a constructor is never merged with another one. */
static void lifo_ctor(void *object)
{
	memset(object, 0, size);
}

/* Allocates all of @p, or none. */
static int take(struct kmem_cache *cache, void **p)
{
	unsigned int i;

	for (i = 0; i < objects; i++) {
		p[i] = kmem_cache_alloc(cache, GFP_ATOMIC);
		if (!p[i]) {
			while (i--)
				kmem_cache_free(cache, p[i]);
			return -ENOMEM;
		}
	}
	return 0;
}

static void give(struct kmem_cache *cache, void **p)
{
	unsigned int i;

	for (i = 0; i < objects; i++)
		kmem_cache_free(cache, p[i]);
}

static int place(const void *object)
{
	unsigned int i;

	for (i = 0; i < objects; i++)
		if (first[i] == object)
			return i;
	return -1;
}

static void report(void)
{
	unsigned int i, reused = 0;
	bool lifo = true, fifo = true;

	for (i = 0; i < objects; i++) {
		int from = place(second[i]);

		pr_info("lifo: alloc=%u reuses=%d\n", i, from);
		reused += from >= 0;
		lifo = lifo && from == (int)(objects - 1 - i);
		fifo = fifo && from == (int)i;
	}
	pr_info("lifo: objects=%u size=%u reused=%u order=%s\n", objects, size,
		reused, lifo ? "lifo" : fifo ? "fifo" : "other");
}

static int __init lifo_init(void)
{
	struct kmem_cache *cache;
	int ret;

	if (objects < 2 || objects > OBJECTS_MAX || !size || size > 4096) {
		pr_err("lifo: objects must be 2 to %d, size 1 to 4096\n",
		       OBJECTS_MAX);
		return -EINVAL;
	}
	cache = kmem_cache_create("lifo", size, 0, 0, lifo_ctor);
	if (!cache)
		return -ENOMEM;

	preempt_disable();
	ret = take(cache, first);
	if (!ret) {
		give(cache, first);
		ret = take(cache, second);
	}
	preempt_enable();

	if (!ret) {
		report();
		give(cache, second);
	}
	kmem_cache_destroy(cache);
	return ret;
}

static void __exit lifo_exit(void)
{
}

module_init(lifo_init);
module_exit(lifo_exit);
MODULE_DESCRIPTION("Order in which a kmem_cache reuses its objects");
MODULE_LICENSE("GPL");
