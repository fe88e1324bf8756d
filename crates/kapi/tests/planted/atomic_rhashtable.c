// sleep in atomic context
#include <linux/module.h>
#include <linux/rhashtable.h>
#include <linux/spinlock.h>

static const struct rhashtable_params params = { .key_len = 4, .head_offset = 0, .key_offset = 8 };
static DEFINE_SPINLOCK(lock);
static struct rhashtable table;

static int __init begin(void)
{
	int result;

	spin_lock(&lock);
	result = rhashtable_init(&table, &params); // in
	spin_unlock(&lock);
	if (!result)
		rhashtable_destroy(&table);
	return result;
}

static void __exit end(void)
{
}

module_init(begin);
module_exit(end);
MODULE_LICENSE("GPL");
