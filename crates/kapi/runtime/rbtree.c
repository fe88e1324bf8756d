// SPDX-License-Identifier: MIT OR Apache-2.0
// Red-black trees, after Cormen, Leiserson, Rivest and Stein, chapter 13; NULL is the black leaf.
#include <linux/rbtree.h>

static bool is_red(const struct rb_node *node)
{
	return node && node->red;
}

/* Puts `node` where `old` is in its parent. */
static void replace_child(struct rb_root *root, struct rb_node *old, struct rb_node *node)
{
	struct rb_node *parent = old->parent;

	if (!parent)
		root->rb_node = node;
	else if (parent->rb_left == old)
		parent->rb_left = node;
	else
		parent->rb_right = node;
	if (node)
		node->parent = parent;
}

static void rotate_left(struct rb_root *root, struct rb_node *node)
{
	struct rb_node *right = node->rb_right;

	node->rb_right = right->rb_left;
	if (node->rb_right)
		node->rb_right->parent = node;
	replace_child(root, node, right);
	right->rb_left = node;
	node->parent = right;
}

static void rotate_right(struct rb_root *root, struct rb_node *node)
{
	struct rb_node *left = node->rb_left;

	node->rb_left = left->rb_right;
	if (node->rb_left)
		node->rb_left->parent = node;
	replace_child(root, node, left);
	left->rb_right = node;
	node->parent = left;
}

void rb_insert_color(struct rb_node *node, struct rb_root *root)
{
	while (is_red(node->parent)) {
		struct rb_node *parent = node->parent, *grand = parent->parent;
		bool left = parent == grand->rb_left;
		struct rb_node *uncle = left ? grand->rb_right : grand->rb_left;

		if (is_red(uncle)) {
			parent->red = uncle->red = false;
			grand->red = true;
			node = grand;
			continue;
		}
		if (node == (left ? parent->rb_right : parent->rb_left)) {
			node = parent;
			left ? rotate_left(root, node) : rotate_right(root, node);
			parent = node->parent;
		}
		parent->red = false;
		grand->red = true;
		left ? rotate_right(root, grand) : rotate_left(root, grand);
	}
	root->rb_node->red = false;
}

/* `node`, a child of `parent` and perhaps NULL, is one black short. */
static void erase_color(struct rb_node *node, struct rb_node *parent, struct rb_root *root)
{
	while (parent && !is_red(node)) {
		bool left = node == parent->rb_left;
		struct rb_node *sibling = left ? parent->rb_right : parent->rb_left;
		struct rb_node *near, *far;

		if (sibling->red) {
			sibling->red = false;
			parent->red = true;
			left ? rotate_left(root, parent) : rotate_right(root, parent);
			continue;
		}
		near = left ? sibling->rb_left : sibling->rb_right;
		far = left ? sibling->rb_right : sibling->rb_left;
		if (!is_red(near) && !is_red(far)) {
			sibling->red = true;
			node = parent;
			parent = node->parent;
			continue;
		}
		if (!is_red(far)) {
			near->red = false;
			sibling->red = true;
			left ? rotate_right(root, sibling) : rotate_left(root, sibling);
			continue;
		}
		sibling->red = parent->red;
		parent->red = far->red = false;
		left ? rotate_left(root, parent) : rotate_right(root, parent);
		node = root->rb_node;
		break;
	}
	if (node)
		node->red = false;
}

void rb_erase(struct rb_node *node, struct rb_root *root)
{
	struct rb_node *child, *parent;
	bool red;

	if (node->rb_left && node->rb_right) {
		struct rb_node *next = rb_next(node);

		red = next->red;
		child = next->rb_right;
		parent = next->parent == node ? next : next->parent;
		if (next->parent != node) {
			replace_child(root, next, child);
			next->rb_right = node->rb_right;
			next->rb_right->parent = next;
		}
		replace_child(root, node, next);
		next->rb_left = node->rb_left;
		next->rb_left->parent = next;
		next->red = node->red;
	} else {
		red = node->red;
		child = node->rb_left ?: node->rb_right;
		parent = node->parent;
		replace_child(root, node, child);
	}
	if (!red)
		erase_color(child, parent, root);
}

static struct rb_node *outermost(struct rb_node *node, bool left)
{
	while (node && (left ? node->rb_left : node->rb_right))
		node = left ? node->rb_left : node->rb_right;
	return node;
}

struct rb_node *rb_first(const struct rb_root *root)
{
	return outermost(root->rb_node, true);
}

struct rb_node *rb_last(const struct rb_root *root)
{
	return outermost(root->rb_node, false);
}

struct rb_node *rb_next(const struct rb_node *node)
{
	if (node->rb_right)
		return outermost(node->rb_right, true);
	while (node->parent && node == node->parent->rb_right)
		node = node->parent;
	return node->parent;
}

struct rb_node *rb_prev(const struct rb_node *node)
{
	if (node->rb_left)
		return outermost(node->rb_left, false);
	while (node->parent && node == node->parent->rb_left)
		node = node->parent;
	return node->parent;
}

void rb_replace_node(struct rb_node *victim, struct rb_node *node, struct rb_root *root)
{
	*node = *victim;
	replace_child(root, victim, node);
	if (node->rb_left)
		node->rb_left->parent = node;
	if (node->rb_right)
		node->rb_right->parent = node;
}
