// leak
#include <linux/module.h>
#include <linux/rhashtable.h>

static const struct rhashtable_params params = { .key_len = 4, .head_offset = 0, .key_offset = 8 };
static struct rhashtable table;

static int __init begin(void)
{
	return rhashtable_init(&table, &params); // allocated by
}

static void __exit end(void)
{
}

module_init(begin);
module_exit(end);
MODULE_LICENSE("GPL");
