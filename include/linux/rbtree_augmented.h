/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Red-black trees whose nodes know something of all that is below them, as the largest end of an interval.
 *
 * Three functions keep it up: `propagate` from a node to the root (or to `stop`, which it leaves as it is), `copy` from
 * a node to the one that takes its place, `rotate` when `up` takes the place of `down`, which gets below it.
 *
 * Linux counterpart: include/linux/rbtree_augmented.h @ 6.12.
 */
#ifndef _LINUX_RBTREE_AUGMENTED_H
#define _LINUX_RBTREE_AUGMENTED_H

#include <linux/rbtree.h>

#define RB_RED 0
#define RB_BLACK 1

struct rb_augment_callbacks {
	void (*propagate)(struct rb_node *node, struct rb_node *stop);
	void (*copy)(struct rb_node *old, struct rb_node *node);
	void (*rotate)(struct rb_node *down, struct rb_node *up);
};

static inline int rb_color(const struct rb_node *node) { return (int)(node->__rb_parent_color & RB_BLACK); }
static inline bool rb_is_red(const struct rb_node *node) { return rb_color(node) == RB_RED; }
static inline bool rb_is_black(const struct rb_node *node) { return rb_color(node) == RB_BLACK; }
static inline void rb_set_parent_color(struct rb_node *node, struct rb_node *parent, int color)
{
	node->__rb_parent_color = (unsigned long)parent | (unsigned long)color;
}
static inline void rb_set_parent(struct rb_node *node, struct rb_node *parent)
{
	rb_set_parent_color(node, parent, rb_color(node));
}

extern void rb_insert_augmented(struct rb_node *node, struct rb_root *root, const struct rb_augment_callbacks *augment);
extern void rb_erase_augmented(struct rb_node *node, struct rb_root *root, const struct rb_augment_callbacks *augment);

static inline void rb_insert_augmented_cached(struct rb_node *node, struct rb_root_cached *root, bool leftmost,
					      const struct rb_augment_callbacks *augment)
{
	if (leftmost)
		root->rb_leftmost = node;
	rb_insert_augmented(node, &root->rb_root, augment);
}
static inline void rb_erase_augmented_cached(struct rb_node *node, struct rb_root_cached *root,
					     const struct rb_augment_callbacks *augment)
{
	if (root->rb_leftmost == node)
		root->rb_leftmost = rb_next(node);
	rb_erase_augmented(node, &root->rb_root, augment);
}

/*
 * The three functions for a field of @_struct. @_compute(entry, exit) sets it from the entry and its children; with
 * @exit it returns true, and sets nothing, if it is right already: then it is so above, too.
 */
#define RB_DECLARE_CALLBACKS(_static, _name, _struct, _field, _augmented, _compute) \
	static inline void _name##_propagate(struct rb_node *node, struct rb_node *stop) \
	{ \
		while (node != stop && !_compute(rb_entry(node, _struct, _field), true)) \
			node = rb_parent(node); \
	} \
	static inline void _name##_copy(struct rb_node *old, struct rb_node *node) \
	{ \
		rb_entry(node, _struct, _field)->_augmented = rb_entry(old, _struct, _field)->_augmented; \
	} \
	static void _name##_rotate(struct rb_node *down, struct rb_node *up) \
	{ \
		_name##_copy(down, up); \
		_compute(rb_entry(down, _struct, _field), false); \
	} \
	_static const struct rb_augment_callbacks _name = { \
		.propagate = _name##_propagate, .copy = _name##_copy, .rotate = _name##_rotate, \
	};

/* For a field that is the largest value of the subtree. */
#define RB_DECLARE_CALLBACKS_MAX(_static, _name, _struct, _field, _type, _augmented, _value) \
	static inline bool _name##_compute_max(_struct *entry, bool exit) \
	{ \
		_type max = _value(entry); \
		struct rb_node *side[] = { entry->_field.rb_left, entry->_field.rb_right }; \
		int i; \
		for (i = 0; i < 2; i++) \
			if (side[i] && rb_entry(side[i], _struct, _field)->_augmented > max) \
				max = rb_entry(side[i], _struct, _field)->_augmented; \
		if (exit && entry->_augmented == max) \
			return true; \
		entry->_augmented = max; \
		return false; \
	} \
	RB_DECLARE_CALLBACKS(_static, _name, _struct, _field, _augmented, _name##_compute_max)

#endif
