// leak
#include <linux/module.h>
#include <linux/maple_tree.h>

static DEFINE_MTREE(tree);
static int thing;

static int __init begin(void)
{
	int i, result = 0;

	for (i = 0; i < 40 && !result; i++)
		result = mtree_store_range(&tree, i * 10UL, i * 10UL + 5, &thing, GFP_KERNEL); // allocated by
	return result;
}

static void __exit end(void)
{
}

module_init(begin);
module_exit(end);
MODULE_LICENSE("GPL");
