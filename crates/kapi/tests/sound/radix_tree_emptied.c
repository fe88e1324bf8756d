// Nothing is wrong here: radix tree emptied.
#include <linux/module.h>
#include <linux/radix-tree.h>
#include <linux/slab.h>

static RADIX_TREE(tree, GFP_KERNEL);
static int things[100];

static int __init begin(void)
{
	int i, result;

	for (i = 0; i < 100; i++) {
		result = radix_tree_insert(&tree, (unsigned long)i * 3, &things[i]);
		if (result)
			return result;
	}
	for (i = 0; i < 100; i++)
		if (radix_tree_delete(&tree, (unsigned long)i * 3) != &things[i])
			return -EINVAL;
	return 0;
}

static void __exit end(void)
{
}

module_init(begin);
module_exit(end);
MODULE_LICENSE("GPL");
