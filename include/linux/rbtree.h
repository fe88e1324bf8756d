/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Red-black trees. */
#ifndef _LINUX_RBTREE_H
#define _LINUX_RBTREE_H

#include <linux/compiler.h>
#include <linux/container_of.h>
#include <linux/stddef.h>
#include <linux/types.h>

struct rb_node {
	struct rb_node *parent;
	struct rb_node *rb_right;
	struct rb_node *rb_left;
	bool red;
};

struct rb_root {
	struct rb_node *rb_node;
};

struct rb_root_cached {
	struct rb_root rb_root;
	struct rb_node *rb_leftmost;
};

#define RB_ROOT (struct rb_root){ NULL }
#define RB_ROOT_CACHED (struct rb_root_cached){ { NULL }, NULL }
#define rb_entry(ptr, type, member) container_of(ptr, type, member)
#define rb_entry_safe(ptr, type, member) ({ \
	typeof(ptr) __kapi_node = (ptr); \
	__kapi_node ? rb_entry(__kapi_node, type, member) : NULL; })
#define rb_parent(node) ((node)->parent)
#define RB_EMPTY_ROOT(root) (READ_ONCE((root)->rb_node) == NULL)
#define RB_EMPTY_NODE(node) ((node)->parent == (node))
#define RB_CLEAR_NODE(node) ((node)->parent = (node))

extern void rb_insert_color(struct rb_node *node, struct rb_root *root);
extern void rb_erase(struct rb_node *node, struct rb_root *root);
extern struct rb_node *rb_next(const struct rb_node *node);
extern struct rb_node *rb_prev(const struct rb_node *node);
extern struct rb_node *rb_first(const struct rb_root *root);
extern struct rb_node *rb_last(const struct rb_root *root);
extern void rb_replace_node(struct rb_node *victim, struct rb_node *node, struct rb_root *root);

static inline void rb_link_node(struct rb_node *node, struct rb_node *parent, struct rb_node **link)
{
	node->parent = parent;
	node->rb_left = NULL;
	node->rb_right = NULL;
	node->red = true;
	*link = node;
}

/* Children before their parent: entries may be freed on the way. */
static inline struct rb_node *kapi_rb_deepest(const struct rb_node *node)
{
	while (node && (node->rb_left || node->rb_right))
		node = node->rb_left ? node->rb_left : node->rb_right;
	return (struct rb_node *)node;
}

static inline struct rb_node *rb_first_postorder(const struct rb_root *root) { return kapi_rb_deepest(root->rb_node); }

static inline struct rb_node *rb_next_postorder(const struct rb_node *node)
{
	const struct rb_node *parent = node ? node->parent : NULL;

	if (parent && node == parent->rb_left && parent->rb_right)
		return kapi_rb_deepest(parent->rb_right);
	return (struct rb_node *)parent;
}

#define rbtree_postorder_for_each_entry_safe(pos, n, root, field) \
	for ((pos) = rb_entry_safe(rb_first_postorder(root), typeof(*(pos)), field); \
	     (pos) && ((n) = rb_entry_safe(rb_next_postorder(&(pos)->field), typeof(*(pos)), field), \
		       true); \
	     (pos) = (n))

#endif
