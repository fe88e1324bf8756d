// Nothing is wrong here: kref error path.
#include <linux/module.h>
#include <linux/kref.h>
#include <linux/slab.h>

struct thing {
	struct kref kref;
	char *name;
};

static int __init begin(void)
{
	struct thing *thing = kzalloc(sizeof(*thing), GFP_KERNEL);

	if (!thing)
		return -ENOMEM;
	kref_init(&thing->kref);
	thing->name = kasprintf(GFP_KERNEL, "thing %d", 1);
	/* Nobody else has seen it: it may go without a put. */
	kfree(thing->name);
	kfree(thing);
	return 0;
}

static void __exit end(void)
{
}

module_init(begin);
module_exit(end);
MODULE_LICENSE("GPL");
