// Nothing is wrong here: hash of objects.
#include <linux/module.h>
#include <linux/hashtable.h>
#include <linux/slab.h>

struct thing {
	struct hlist_node node;
	int key;
};

static DEFINE_HASHTABLE(table, 4);

static int __init begin(void)
{
	int i;

	for (i = 0; i < 60; i++) {
		struct thing *thing = kmalloc(sizeof(*thing), GFP_KERNEL);

		if (!thing)
			return -ENOMEM;
		thing->key = i;
		hash_add(table, &thing->node, i);
	}
	return 0;
}

static void __exit end(void)
{
	struct hlist_node *next;
	struct thing *thing;
	int bucket;

	hash_for_each_safe(table, bucket, next, thing, node) {
		hash_del(&thing->node);
		kfree(thing);
	}
}

module_init(begin);
module_exit(end);
MODULE_LICENSE("GPL");
