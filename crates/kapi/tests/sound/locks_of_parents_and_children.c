// Nothing is wrong here: locks of parents and children.
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#include <linux/list.h>

struct node {
	struct mutex lock;
	struct node *parent;
};

static struct node *new_node(struct node *parent)
{
	struct node *node = kzalloc(sizeof(*node), GFP_KERNEL);

	if (node) {
		mutex_init(&node->lock);
		node->parent = parent;
	}
	return node;
}

static int __init begin(void)
{
	struct node *root = new_node(NULL), *leaf = new_node(root);

	if (root && leaf) {
		mutex_lock(&root->lock);
		mutex_lock_nested(&leaf->lock, SINGLE_DEPTH_NESTING);
		mutex_unlock(&leaf->lock);
		mutex_unlock(&root->lock);
	}
	kfree(leaf);
	kfree(root);
	return 0;
}

static void __exit end(void)
{
}

module_init(begin);
module_exit(end);
MODULE_LICENSE("GPL");
