// Nothing is wrong here: kref balanced.
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

static struct thing *shared;

static int __init begin(void)
{
	shared = kzalloc(sizeof(*shared), GFP_KERNEL);
	if (!shared)
		return -ENOMEM;
	kref_init(&shared->kref);
	kref_get(&shared->kref);
	if (kref_get_unless_zero(&shared->kref))
		kref_put(&shared->kref, release);
	kref_put(&shared->kref, release);
	return 0;
}

static void __exit end(void)
{
	kref_put(&shared->kref, release);
}

module_init(begin);
module_exit(end);
MODULE_LICENSE("GPL");
