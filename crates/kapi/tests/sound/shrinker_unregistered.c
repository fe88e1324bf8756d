// Nothing is wrong here: shrinker unregistered.
#include <linux/module.h>
#include <linux/shrinker.h>
#include <linux/list.h>
#include <linux/slab.h>
#include <linux/spinlock.h>

static LIST_HEAD(objects);
static DEFINE_SPINLOCK(lock);
static unsigned long held;

struct object {
	struct list_head list;
};

static unsigned long count(struct shrinker *shrinker, struct shrink_control *sc)
{
	return READ_ONCE(held);
}

static unsigned long scan(struct shrinker *shrinker, struct shrink_control *sc)
{
	unsigned long freed = 0;

	spin_lock(&lock);
	while (freed < sc->nr_to_scan && !list_empty(&objects)) {
		struct object *object = list_first_entry(&objects, struct object, list);

		list_del(&object->list);
		kfree(object);
		held--;
		freed++;
	}
	spin_unlock(&lock);
	return freed;
}

#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 7, 0)
static struct shrinker *shrinker;
#else
static struct shrinker shrinker = { .count_objects = count, .scan_objects = scan, .seeks = DEFAULT_SEEKS };
#endif

static int __init begin(void)
{
	int i;

	for (i = 0; i < 20; i++) {
		struct object *object = kmalloc(sizeof(*object), GFP_KERNEL);

		if (!object)
			return -ENOMEM;
		spin_lock(&lock);
		list_add(&object->list, &objects);
		held++;
		spin_unlock(&lock);
	}
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 7, 0)
	shrinker = shrinker_alloc(0, "sound");
	if (!shrinker)
		return -ENOMEM;
	shrinker->count_objects = count;
	shrinker->scan_objects = scan;
	shrinker_register(shrinker);
	return 0;
#else
	return register_shrinker(&shrinker, "sound");
#endif
	return 0;
}

static void __exit end(void)
{
	struct object *object, *next;

#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 7, 0)
	shrinker_free(shrinker);
#else
	unregister_shrinker(&shrinker);
#endif
	list_for_each_entry_safe(object, next, &objects, list)
		kfree(object);
}

module_init(begin);
module_exit(end);
MODULE_LICENSE("GPL");
