// SPDX-License-Identifier: MIT OR Apache-2.0
// Trees of intervals, and the spans that they cover and leave.
#include <linux/interval_tree.h>
#include <linux/interval_tree_generic.h>
#include <linux/limits.h>

#define START(node) ((node)->start)
#define LAST(node) ((node)->last)
INTERVAL_TREE_DEFINE(struct interval_tree_node, rb, unsigned long, __subtree_last, START, LAST, , interval_tree)

/* The span that begins at an index. */
static void span_from(struct interval_tree_span_iter *span, unsigned long at)
{
	struct interval_tree_node *node = interval_tree_iter_first(span->kapi_root, at, span->last_index);
	unsigned long last;

	span->start_hole = at;
	span->nodes[0] = node;
	if (!node || node->start > at) {
		span->is_hole = 1;
		span->last_hole = node ? node->start - 1 : span->last_index;
		return;
	}
	span->is_hole = 0;
	/* Intervals that begin at or before the index behind the last are of the same span. */
	for (last = at; node && (node->start <= last || node->start == last + 1);
	     node = interval_tree_iter_next(node, at, span->last_index))
		last = node->last > last ? node->last : last;
	span->last_used = last < span->last_index ? last : span->last_index;
}

void interval_tree_span_iter_first(struct interval_tree_span_iter *span, struct rb_root_cached *root,
				   unsigned long first, unsigned long last)
{
	span->kapi_root = root;
	span->first_index = first;
	span->last_index = last;
	span_from(span, first);
}

void interval_tree_span_iter_next(struct interval_tree_span_iter *span)
{
	if (span->last_hole >= span->last_index)
		span->is_hole = -1;
	else
		span_from(span, span->last_hole + 1);
}

/* On to the span that has an index; it begins there. */
void interval_tree_span_iter_advance(struct interval_tree_span_iter *span, struct rb_root_cached *root, unsigned long index)
{
	if (span->is_hole == -1)
		return;
	span->kapi_root = root;
	if (index > span->last_index)
		span->is_hole = -1;
	else
		span_from(span, index);
}
