// Nothing is wrong here: kref with lock.
#include <linux/module.h>
#include <linux/kref.h>
#include <linux/slab.h>
#include <linux/mutex.h>
#include <linux/list.h>

struct thing {
	struct kref kref;
	struct list_head list;
};

static LIST_HEAD(things);
static DEFINE_MUTEX(lock);

static void release(struct kref *kref)
{
	struct thing *thing = container_of(kref, struct thing, kref);

	list_del(&thing->list);
	kfree(thing);
}

static int __init begin(void)
{
	int i;

	for (i = 0; i < 4; i++) {
		struct thing *thing = kzalloc(sizeof(*thing), GFP_KERNEL);

		if (!thing)
			return -ENOMEM;
		kref_init(&thing->kref);
		mutex_lock(&lock);
		list_add(&thing->list, &things);
		mutex_unlock(&lock);
	}
	return 0;
}

static void __exit end(void)
{
	struct thing *thing, *next;

	mutex_lock(&lock);
	list_for_each_entry_safe(thing, next, &things, list)
		kref_put(&thing->kref, release);
	mutex_unlock(&lock);
}

module_init(begin);
module_exit(end);
MODULE_LICENSE("GPL");
