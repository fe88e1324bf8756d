// SPDX-License-Identifier: MIT OR Apache-2.0
// Red-black trees, after Cormen, Leiserson, Rivest and Stein, chapter 13; NULL is the black leaf. What nodes know of
// what is below them (`augment`) is kept up by the tree's own functions.
#include <linux/rbtree_augmented.h>

static bool is_red(const struct rb_node *node) { return node && rb_is_red(node); }
static void set_red(struct rb_node *node, bool red) { rb_set_parent_color(node, rb_parent(node), red ? RB_RED : RB_BLACK); }

/* Puts `node` where `old` is in its parent. */
static void replace_child(struct rb_root *root, struct rb_node *old, struct rb_node *node)
{
	struct rb_node *parent = rb_parent(old);

	if (!parent)
		root->rb_node = node;
	else if (parent->rb_left == old)
		parent->rb_left = node;
	else
		parent->rb_right = node;
	if (node)
		rb_set_parent(node, parent);
}

/* The child on one side: trees are handled with left and right exchanged by the same code. */
static struct rb_node **child_of(struct rb_node *node, bool left) { return left ? &node->rb_left : &node->rb_right; }

/* Moves `node` down to its left or right, and its child on the other side up into its place. */
static void rotate(struct rb_root *root, struct rb_node *node, bool left, const struct rb_augment_callbacks *augment)
{
	struct rb_node *up = *child_of(node, !left), *between = *child_of(up, left);

	*child_of(node, !left) = between;
	if (between)
		rb_set_parent(between, node);
	replace_child(root, node, up);
	*child_of(up, left) = node;
	rb_set_parent(node, up);
	if (augment)
		augment->rotate(node, up);
}

static void insert_color(struct rb_node *node, struct rb_root *root, const struct rb_augment_callbacks *augment)
{
	while (is_red(rb_parent(node))) {
		struct rb_node *parent = rb_parent(node), *grand = rb_parent(parent);
		bool left = parent == grand->rb_left;
		struct rb_node *uncle = *child_of(grand, !left);

		if (is_red(uncle)) {
			set_red(parent, false);
			set_red(uncle, false);
			set_red(grand, true);
			node = grand;
			continue;
		}
		if (node == *child_of(parent, !left)) {
			node = parent;
			rotate(root, node, left, augment);
			parent = rb_parent(node);
		}
		set_red(parent, false);
		set_red(grand, true);
		rotate(root, grand, !left, augment);
	}
	set_red(root->rb_node, false);
}

void rb_insert_color(struct rb_node *node, struct rb_root *root) { insert_color(node, root, NULL); }
void rb_insert_augmented(struct rb_node *node, struct rb_root *root, const struct rb_augment_callbacks *augment)
{
	insert_color(node, root, augment);
}

/* `node`, a child of `parent` and perhaps NULL, is one black short. */
static void erase_color(struct rb_node *node, struct rb_node *parent, struct rb_root *root,
			const struct rb_augment_callbacks *augment)
{
	while (parent && !is_red(node)) {
		bool left = node == parent->rb_left;
		struct rb_node *sibling = *child_of(parent, !left);
		struct rb_node *near, *far;

		if (is_red(sibling)) {
			set_red(sibling, false);
			set_red(parent, true);
			rotate(root, parent, left, augment);
			continue;
		}
		near = *child_of(sibling, left);
		far = *child_of(sibling, !left);
		if (!is_red(near) && !is_red(far)) {
			set_red(sibling, true);
			node = parent;
			parent = rb_parent(node);
			continue;
		}
		if (!is_red(far)) {
			set_red(near, false);
			set_red(sibling, true);
			rotate(root, sibling, !left, augment);
			continue;
		}
		set_red(sibling, is_red(parent));
		set_red(parent, false);
		set_red(far, false);
		rotate(root, parent, left, augment);
		node = root->rb_node;
		break;
	}
	if (node)
		set_red(node, false);
}

static void erase(struct rb_node *node, struct rb_root *root, const struct rb_augment_callbacks *augment)
{
	struct rb_node *child, *parent, *next = NULL;
	bool red;

	if (node->rb_left && node->rb_right) {
		next = rb_next(node);
		red = is_red(next);
		child = next->rb_right;
		parent = rb_parent(next) == node ? next : rb_parent(next);
		if (rb_parent(next) != node) {
			replace_child(root, next, child);
			next->rb_right = node->rb_right;
			rb_set_parent(next->rb_right, next);
		}
		replace_child(root, node, next);
		next->rb_left = node->rb_left;
		rb_set_parent(next->rb_left, next);
		set_red(next, is_red(node));
	} else {
		red = is_red(node);
		child = node->rb_left ?: node->rb_right;
		parent = rb_parent(node);
		replace_child(root, node, child);
	}
	if (augment) {
		if (next)
			augment->copy(node, next);
		/* Below the node that moved up, and from there to the root. */
		if (next && parent != next)
			augment->propagate(parent, next);
		augment->propagate(next ?: parent, NULL);
	}
	if (!red)
		erase_color(child, parent, root, augment);
}

void rb_erase(struct rb_node *node, struct rb_root *root) { erase(node, root, NULL); }
void rb_erase_augmented(struct rb_node *node, struct rb_root *root, const struct rb_augment_callbacks *augment)
{
	erase(node, root, augment);
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
	while (rb_parent(node) && node == *child_of(rb_parent(node), left))
		node = rb_parent(node);
	return rb_parent(node);
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
		rb_set_parent(node->rb_left, node);
	if (node->rb_right)
		rb_set_parent(node->rb_right, node);
}
