// Nothing is wrong here: rbtree of objects.
#include <linux/module.h>
#include <linux/rbtree.h>
#include <linux/slab.h>

struct thing {
	struct rb_node node;
	int key;
};

static struct rb_root root = RB_ROOT;

static void insert(struct thing *new)
{
	struct rb_node **at = &root.rb_node, *parent = NULL;

	while (*at) {
		parent = *at;
		at = new->key < rb_entry(parent, struct thing, node)->key ? &parent->rb_left : &parent->rb_right;
	}
	rb_link_node(&new->node, parent, at);
	rb_insert_color(&new->node, &root);
}

static int __init begin(void)
{
	int i;

	for (i = 0; i < 50; i++) {
		struct thing *thing = kmalloc(sizeof(*thing), GFP_KERNEL);

		if (!thing)
			return -ENOMEM;
		thing->key = i * 37 % 50;
		insert(thing);
	}
	return 0;
}

static void __exit end(void)
{
	struct thing *thing, *next;

	rbtree_postorder_for_each_entry_safe(thing, next, &root, node)
		kfree(thing);
}

module_init(begin);
module_exit(end);
MODULE_LICENSE("GPL");
