/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Trees of intervals: functions for a type of one's own.
 *
 * Sorted by where intervals begin; each node knows the last end below it, so that a subtree which ends before what is
 * asked for is passed over. Of the intervals that meet one the first is found, and from each the next.
 *
 * Linux counterpart: include/linux/interval_tree_generic.h @ 6.12.
 */
#ifndef _LINUX_INTERVAL_TREE_GENERIC_H
#define _LINUX_INTERVAL_TREE_GENERIC_H

#include <linux/rbtree_augmented.h>

#define INTERVAL_TREE_DEFINE(_struct, _field, _type, _below, _start, _last, _static, _prefix) \
	RB_DECLARE_CALLBACKS_MAX(static, _prefix##_augment, _struct, _field, _type, _below, _last) \
	_static void _prefix##_insert(_struct *node, struct rb_root_cached *root) \
	{ \
		struct rb_node **link = &root->rb_root.rb_node, *parent = NULL; \
		bool leftmost = true; \
		while (*link) { \
			_struct *entry = rb_entry(*link, _struct, _field); \
			parent = *link; \
			if (entry->_below < _last(node)) \
				entry->_below = _last(node); \
			if (_start(node) < _start(entry)) { \
				link = &parent->rb_left; \
			} else { \
				link = &parent->rb_right; \
				leftmost = false; \
			} \
		} \
		node->_below = _last(node); \
		rb_link_node(&node->_field, parent, link); \
		rb_insert_augmented_cached(&node->_field, root, leftmost, &_prefix##_augment); \
	} \
	_static void _prefix##_remove(_struct *node, struct rb_root_cached *root) \
	{ \
		rb_erase_augmented_cached(&node->_field, root, &_prefix##_augment); \
	} \
	/* The first that meets start..last below a node, of which the subtree does not end before start. */ \
	_static _struct *_prefix##_subtree_search(_struct *node, _type start, _type last) \
	{ \
		for (;;) { \
			_struct *left = rb_entry_safe(node->_field.rb_left, _struct, _field); \
			_struct *right = rb_entry_safe(node->_field.rb_right, _struct, _field); \
			if (left && start <= left->_below) { \
				node = left; \
				continue; \
			} \
			if (_start(node) > last) \
				return NULL; \
			if (start <= _last(node)) \
				return node; \
			if (!right || start > right->_below) \
				return NULL; \
			node = right; \
		} \
	} \
	_static _struct *_prefix##_iter_first(struct rb_root_cached *root, _type start, _type last) \
	{ \
		_struct *top = rb_entry_safe(root->rb_root.rb_node, _struct, _field); \
		if (!top || top->_below < start || _start(rb_entry(root->rb_leftmost, _struct, _field)) > last) \
			return NULL; \
		return _prefix##_subtree_search(top, start, last); \
	} \
	_static _struct *_prefix##_iter_next(_struct *node, _type start, _type last) \
	{ \
		struct rb_node *at = &node->_field, *from; \
		for (;;) { \
			_struct *right = rb_entry_safe(at->rb_right, _struct, _field); \
			if (right && start <= right->_below) \
				return _prefix##_subtree_search(right, start, last); \
			/* Up, until it was from the left. */ \
			do { \
				from = at; \
				at = rb_parent(at); \
				if (!at) \
					return NULL; \
			} while (from == at->rb_right); \
			node = rb_entry(at, _struct, _field); \
			if (last < _start(node)) \
				return NULL; \
			if (start <= _last(node)) \
				return node; \
		} \
	}

#endif
