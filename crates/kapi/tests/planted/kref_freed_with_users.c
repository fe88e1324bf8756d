// reference count: a kref with 2 references is freed
#include <linux/module.h>
#include <linux/kref.h>
#include <linux/slab.h>

struct thing {
	struct kref kref;
	int value;
};

static int __init begin(void)
{
	struct thing *thing = kzalloc(sizeof(*thing), GFP_KERNEL);

	if (!thing)
		return -ENOMEM;
	kref_init(&thing->kref);
	kref_get(&thing->kref);
	kfree(thing); // in
	return 0;
}

static void __exit end(void)
{
}

module_init(begin);
module_exit(end);
MODULE_LICENSE("GPL");
