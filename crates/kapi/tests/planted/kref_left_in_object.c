// reference count: a kref is left with 2 references
#include <linux/module.h>
#include <linux/kref.h>
#include <linux/slab.h>

struct thing {
	struct kref kref;
	int value;
};

static void release(struct kref *kref)
{
	kfree(container_of(kref, struct thing, kref));
}

static int __init begin(void)
{
	struct thing *thing = kzalloc(sizeof(*thing), GFP_KERNEL); // allocated by

	if (!thing)
		return -ENOMEM;
	kref_init(&thing->kref);
	kref_get(&thing->kref);
	kref_get(&thing->kref); // in
	kref_put(&thing->kref, release);
	return 0;
}

static void __exit end(void)
{
}

module_init(begin);
module_exit(end);
MODULE_LICENSE("GPL");
