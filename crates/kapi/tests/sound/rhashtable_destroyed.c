// Nothing is wrong here: rhashtable destroyed.
#include <linux/module.h>
#include <linux/rhashtable.h>
#include <linux/slab.h>

struct thing {
	struct rhash_head head;
	u32 key;
};

static const struct rhashtable_params params = {
	.key_len = sizeof(u32),
	.key_offset = offsetof(struct thing, key),
	.head_offset = offsetof(struct thing, head),
	.automatic_shrinking = true,
};
static struct rhashtable table;

static void frees(void *thing, void *arg)
{
	kfree(thing);
}

static int __init begin(void)
{
	u32 i;
	int result = rhashtable_init(&table, &params);

	for (i = 0; i < 200 && !result; i++) {
		struct thing *thing = kzalloc(sizeof(*thing), GFP_KERNEL);

		if (!thing)
			return -ENOMEM;
		thing->key = i;
		result = rhashtable_insert_fast(&table, &thing->head, params);
	}
	i = 77;
	if (!result && !rhashtable_lookup_fast(&table, &i, params))
		result = -ENOENT;
	return result;
}

static void __exit end(void)
{
	rhashtable_free_and_destroy(&table, frees, NULL);
}

module_init(begin);
module_exit(end);
MODULE_LICENSE("GPL");
