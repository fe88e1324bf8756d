// lock or atomic context left: a lock that is held is freed
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/slab.h>

struct thing {
	struct mutex lock;
	int value;
};

static int __init begin(void)
{
	struct thing *thing = kzalloc(sizeof(*thing), GFP_KERNEL);

	if (!thing)
		return -ENOMEM;
	mutex_init(&thing->lock);
	mutex_lock(&thing->lock);
	kfree(thing); // in
	return 0;
}

static void __exit end(void)
{
}

module_init(begin);
module_exit(end);
MODULE_LICENSE("GPL");
