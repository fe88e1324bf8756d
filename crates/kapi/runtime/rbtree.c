// SPDX-License-Identifier: MIT OR Apache-2.0
// Red-black trees, after Cormen, Leiserson, Rivest and Stein, chapter 13; NULL is the black leaf.
#include <linux/rbtree.h>

static bool is_red(const struct rb_node *node) { return node && node->red; }

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

/* The child on one side: trees are handled with left and right exchanged by the same code. */
static struct rb_node **child_of(struct rb_node *node, bool left) { return left ? &node->rb_left : &node->rb_right; }

/* Moves `node` down to its left or right, and its child on the other side up into its place. */
static void rotate(struct rb_root *root, struct rb_node *node, bool left)
{
	struct rb_node *up = *child_of(node, !left), *between = *child_of(up, left);

	*child_of(node, !left) = between;
	if (between)
		between->parent = node;
	replace_child(root, node, up);
	*child_of(up, left) = node;
	node->parent = up;
}

void rb_insert_color(struct rb_node *node, struct rb_root *root)
{
	while (is_red(node->parent)) {
		struct rb_node *parent = node->parent, *grand = parent->parent;
		bool left = parent == grand->rb_left;
		struct rb_node *uncle = *child_of(grand, !left);

		if (is_red(uncle)) {
			parent->red = uncle->red = false;
			grand->red = true;
			node = grand;
			continue;
		}
		if (node == *child_of(parent, !left)) {
			node = parent;
			rotate(root, node, left);
			parent = node->parent;
		}
		parent->red = false;
		grand->red = true;
		rotate(root, grand, !left);
	}
	root->rb_node->red = false;
}

/* `node`, a child of `parent` and perhaps NULL, is one black short. */
static void erase_color(struct rb_node *node, struct rb_node *parent, struct rb_root *root)
{
	while (parent && !is_red(node)) {
		bool left = node == parent->rb_left;
		struct rb_node *sibling = *child_of(parent, !left);
		struct rb_node *near, *far;

		if (sibling->red) {
			sibling->red = false;
			parent->red = true;
			rotate(root, parent, left);
			continue;
		}
		near = *child_of(sibling, left);
		far = *child_of(sibling, !left);
		if (!is_red(near) && !is_red(far)) {
			sibling->red = true;
			node = parent;
			parent = node->parent;
			continue;
		}
		if (!is_red(far)) {
			near->red = false;
			sibling->red = true;
			rotate(root, sibling, !left);
			continue;
		}
		sibling->red = parent->red;
		parent->red = far->red = false;
		rotate(root, parent, left);
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
	while (node && *child_of(node, left))
		node = *child_of(node, left);
	return node;
}

/* The next node on one side. */
static struct rb_node *neighbour(struct rb_node *node, bool left)
{
	if (*child_of(node, left))
		return outermost(*child_of(node, left), !left);
	while (node->parent && node == *child_of(node->parent, left))
		node = node->parent;
	return node->parent;
}

struct rb_node *rb_first(const struct rb_root *root) { return outermost(root->rb_node, true); }
struct rb_node *rb_last(const struct rb_root *root) { return outermost(root->rb_node, false); }
struct rb_node *rb_next(const struct rb_node *node) { return neighbour((struct rb_node *)node, false); }
struct rb_node *rb_prev(const struct rb_node *node) { return neighbour((struct rb_node *)node, true); }

void rb_replace_node(struct rb_node *victim, struct rb_node *node, struct rb_root *root)
{
	*node = *victim;
	replace_child(root, victim, node);
	if (node->rb_left)
		node->rb_left->parent = node;
	if (node->rb_right)
		node->rb_right->parent = node;
}
