// leak
#include <linux/module.h>
#include <linux/radix-tree.h>

static RADIX_TREE(tree, GFP_KERNEL);
static int thing;

static int __init begin(void)
{
	return radix_tree_insert(&tree, 70, &thing); // allocated by
}

static void __exit end(void)
{
}

module_init(begin);
module_exit(end);
MODULE_LICENSE("GPL");
