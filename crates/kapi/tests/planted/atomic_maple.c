// sleep in atomic context
#include <linux/module.h>
#include <linux/maple_tree.h>
#include <linux/spinlock.h>

static DEFINE_MTREE(tree);
static DEFINE_SPINLOCK(lock);
static int thing;

static int __init begin(void)
{
	int result;

	spin_lock(&lock);
	result = mtree_store(&tree, 5, &thing, GFP_KERNEL); // in
	spin_unlock(&lock);
	mtree_destroy(&tree);
	return result;
}

static void __exit end(void)
{
}

module_init(begin);
module_exit(end);
MODULE_LICENSE("GPL");
