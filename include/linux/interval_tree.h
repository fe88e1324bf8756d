/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Trees of intervals of numbers, both ends of which belong to them, and walks over what they cover and what they do not.
 *
 * Linux counterpart: include/linux/interval_tree.h @ 6.12.
 */
#ifndef _LINUX_INTERVAL_TREE_H
#define _LINUX_INTERVAL_TREE_H

#include <linux/rbtree.h>

struct interval_tree_node {
	struct rb_node rb;
	unsigned long start, last;
	unsigned long __subtree_last;
};

extern void interval_tree_insert(struct interval_tree_node *node, struct rb_root_cached *root);
extern void interval_tree_remove(struct interval_tree_node *node, struct rb_root_cached *root);
extern struct interval_tree_node *interval_tree_subtree_search(struct interval_tree_node *node, unsigned long start,
							       unsigned long last);
extern struct interval_tree_node *interval_tree_iter_first(struct rb_root_cached *root, unsigned long start,
							   unsigned long last);
extern struct interval_tree_node *interval_tree_iter_next(struct interval_tree_node *node, unsigned long start,
							  unsigned long last);

/* A part of first_index..last_index: a hole (is_hole 1), or what intervals that touch cover (0); at the end -1. */
struct interval_tree_span_iter {
	struct interval_tree_node *nodes[2];
	unsigned long first_index, last_index;
	union {
		unsigned long start_hole, start_used;
	};
	union {
		unsigned long last_hole, last_used;
	};
	int is_hole;
	struct rb_root_cached *kapi_root;
};

extern void interval_tree_span_iter_first(struct interval_tree_span_iter *span, struct rb_root_cached *root,
					  unsigned long first, unsigned long last);
extern void interval_tree_span_iter_next(struct interval_tree_span_iter *span);
extern void interval_tree_span_iter_advance(struct interval_tree_span_iter *span, struct rb_root_cached *root,
					    unsigned long index);
static inline bool interval_tree_span_iter_done(struct interval_tree_span_iter *span) { return span->is_hole == -1; }

#define interval_tree_for_each_span(span, root, first, last) \
	for (interval_tree_span_iter_first(span, root, first, last); !interval_tree_span_iter_done(span); \
	     interval_tree_span_iter_next(span))

#endif
