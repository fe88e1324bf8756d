/*
 * In which order are freed objects handed out again? Takes objects of a cache, gives them back first to last, and takes as
 * many again: what was freed last comes first.
 */
#include <linux/init.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/slab.h>

#define OBJECTS 12

static struct kmem_cache *cache;
static void *first[OBJECTS], *second[OBJECTS];
static int keep;
module_param(keep, int, 0444);
MODULE_PARM_DESC(keep, "how many objects are not freed at the end");

static int take(void **objects)
{
	int i;

	for (i = 0; i < OBJECTS; i++) {
		objects[i] = kmem_cache_alloc(cache, GFP_ATOMIC);
		if (!objects[i])
			return -ENOMEM;
	}
	return 0;
}

static void give(void **objects, int from)
{
	int i;

	for (i = from; i < OBJECTS; i++)
		kmem_cache_free(cache, objects[i]);
}

static int __init last_freed_init(void)
{
	int ret, i, same = 0;

	cache = kmem_cache_create("token", 128, 0, 0, NULL);
	if (!cache)
		return -ENOMEM;
	preempt_disable();
	ret = take(first);
	if (!ret) {
		give(first, 0);
		ret = take(second);
	}
	preempt_enable();
	if (ret)
		return ret;
	for (i = 0; i < OBJECTS; i++)
		same += second[i] == first[OBJECTS - 1 - i];
	pr_info("%d of %d came in the opposite order\n", same, OBJECTS);
	return 0;
}

static void __exit last_freed_exit(void)
{
	give(second, keep);
	if (!keep)
		kmem_cache_destroy(cache);
}

module_init(last_freed_init);
module_exit(last_freed_exit);
MODULE_DESCRIPTION("The order in which freed objects are handed out again");
MODULE_LICENSE("GPL");
