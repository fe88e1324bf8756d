// Nothing is wrong here: maple tree destroyed.
#include <linux/module.h>
#include <linux/maple_tree.h>

static DEFINE_MTREE(tree);
static int thing;

static int __init begin(void)
{
	unsigned long i;
	int result = 0;

	for (i = 0; i < 100 && !result; i++)
		result = mtree_store_range(&tree, i * 10, i * 10 + 5, &thing, GFP_KERNEL);
	if (!result && mtree_load(&tree, 53) != &thing)
		result = -ENOENT;
	mtree_erase(&tree, 53);
	return result;
}

static void __exit end(void)
{
	mtree_destroy(&tree);
}

module_init(begin);
module_exit(end);
MODULE_LICENSE("GPL");
