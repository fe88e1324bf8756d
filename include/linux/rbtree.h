/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Red-black trees.
 *
 * A node keeps its parent and its colour in one word: the lowest bit is set in black ones.
 *
 * Linux counterpart: include/linux/rbtree.h @ 6.12; rb_add() and its kin @ 5.12.
 */
#ifndef _LINUX_RBTREE_H
#define _LINUX_RBTREE_H

#include <linux/compiler.h>
#include <linux/container_of.h>
#include <linux/stddef.h>
#include <linux/types.h>

struct rb_node {
	unsigned long __rb_parent_color;
	struct rb_node *rb_right;
	struct rb_node *rb_left;
} __attribute__((__aligned__(sizeof(long))));

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
#define rb_parent(node) ((struct rb_node *)((node)->__rb_parent_color & ~3UL))
#define RB_EMPTY_ROOT(root) (READ_ONCE((root)->rb_node) == NULL)
#define RB_EMPTY_NODE(node) ((node)->__rb_parent_color == (unsigned long)(node))
#define RB_CLEAR_NODE(node) ((node)->__rb_parent_color = (unsigned long)(node))

extern void rb_insert_color(struct rb_node *node, struct rb_root *root);
extern void rb_erase(struct rb_node *node, struct rb_root *root);
extern struct rb_node *rb_next(const struct rb_node *node);
extern struct rb_node *rb_prev(const struct rb_node *node);
extern struct rb_node *rb_first(const struct rb_root *root);
extern struct rb_node *rb_last(const struct rb_root *root);
extern void rb_replace_node(struct rb_node *victim, struct rb_node *node, struct rb_root *root);

static inline void rb_link_node(struct rb_node *node, struct rb_node *parent, struct rb_node **link)
{
	node->__rb_parent_color = (unsigned long)parent;
	node->rb_left = NULL;
	node->rb_right = NULL;
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
	const struct rb_node *parent = node ? rb_parent(node) : NULL;

	if (parent && node == parent->rb_left && parent->rb_right)
		return kapi_rb_deepest(parent->rb_right);
	return (struct rb_node *)parent;
}

#define rbtree_postorder_for_each_entry_safe(pos, n, root, field) \
	for ((pos) = rb_entry_safe(rb_first_postorder(root), typeof(*(pos)), field); \
	     (pos) && ((n) = rb_entry_safe(rb_next_postorder(&(pos)->field), typeof(*(pos)), field), \
		       true); \
	     (pos) = (n))

/* Trees that know their leftmost node. */
#define rb_first_cached(root) ((root)->rb_leftmost)

static inline void rb_insert_color_cached(struct rb_node *node, struct rb_root_cached *root, bool leftmost)
{
	if (leftmost)
		root->rb_leftmost = node;
	rb_insert_color(node, &root->rb_root);
}

static inline struct rb_node *rb_erase_cached(struct rb_node *node, struct rb_root_cached *root)
{
	struct rb_node *leftmost = root->rb_leftmost == node ? rb_next(node) : NULL;

	if (root->rb_leftmost == node)
		root->rb_leftmost = leftmost;
	rb_erase(node, &root->rb_root);
	return leftmost;
}

static inline void rb_replace_node_cached(struct rb_node *victim, struct rb_node *node, struct rb_root_cached *root)
{
	if (root->rb_leftmost == victim)
		root->rb_leftmost = node;
	rb_replace_node(victim, node, &root->rb_root);
}

/* Sorted by a function: @less says whether the first stands before the second. */
static __always_inline void rb_add(struct rb_node *node, struct rb_root *root,
				   bool (*less)(struct rb_node *a, const struct rb_node *b))
{
	struct rb_node **link = &root->rb_node, *parent = NULL;

	while (*link) {
		parent = *link;
		link = less(node, parent) ? &parent->rb_left : &parent->rb_right;
	}
	rb_link_node(node, parent, link);
	rb_insert_color(node, root);
}

static __always_inline struct rb_node *rb_add_cached(struct rb_node *node, struct rb_root_cached *root,
						     bool (*less)(struct rb_node *a, const struct rb_node *b))
{
	struct rb_node **link = &root->rb_root.rb_node, *parent = NULL;
	bool leftmost = true;

	while (*link) {
		bool left;

		parent = *link;
		left = less(node, parent);
		leftmost = leftmost && left;
		link = left ? &parent->rb_left : &parent->rb_right;
	}
	rb_link_node(node, parent, link);
	rb_insert_color_cached(node, root, leftmost);
	return leftmost ? node : NULL;
}

/* @compare: negative if the key, or the first, stands before the node. Returns the node that is there already. */
static __always_inline struct rb_node *rb_find_add(struct rb_node *node, struct rb_root *root,
						   int (*compare)(struct rb_node *a, const struct rb_node *b))
{
	struct rb_node **link = &root->rb_node, *parent = NULL;

	while (*link) {
		int order;

		parent = *link;
		order = compare(node, parent);
		if (!order)
			return parent;
		link = order < 0 ? &parent->rb_left : &parent->rb_right;
	}
	rb_link_node(node, parent, link);
	rb_insert_color(node, root);
	return NULL;
}

static __always_inline struct rb_node *rb_find(const void *key, const struct rb_root *root,
					       int (*compare)(const void *key, const struct rb_node *node))
{
	struct rb_node *node = root->rb_node;
	int order;

	while (node && (order = compare(key, node)) != 0)
		node = order < 0 ? node->rb_left : node->rb_right;
	return node;
}

/* Of several with the key the leftmost. */
static __always_inline struct rb_node *rb_find_first(const void *key, const struct rb_root *root,
						     int (*compare)(const void *key, const struct rb_node *node))
{
	struct rb_node *node = root->rb_node, *found = NULL;

	while (node) {
		int order = compare(key, node);

		found = order ? found : node;
		node = order <= 0 ? node->rb_left : node->rb_right;
	}
	return found;
}

static __always_inline struct rb_node *rb_next_match(const void *key, struct rb_node *node,
						     int (*compare)(const void *key, const struct rb_node *node))
{
	node = rb_next(node);
	return node && !compare(key, node) ? node : NULL;
}

#define rb_for_each(node, key, root, compare) \
	for ((node) = rb_find_first(key, root, compare); (node); (node) = rb_next_match(key, node, compare))

#endif
