// SPDX-License-Identifier: MIT OR Apache-2.0
// Gaps of the maple tree: where so many indices side by side have no entry.
#include "maple.h"

/* What is looked for: the lowest or the highest place in a window. */
struct search {
	unsigned long low, high;
	/* Indices, less one. */
	unsigned long more;
	bool rev;
	unsigned long found;
};

/* Looks at a range without an entry. */
static bool try_gap(struct search *s, unsigned long first, unsigned long last)
{
	first = max(first, s->low);
	last = min(last, s->high);
	if (first > last || last - first < s->more)
		return false;
	s->found = s->rev ? last - s->more : first;
	return true;
}

/* Looks in a node. What the gaps above say may be old for a reader without the lock; the leaves decide. */
static bool try_node(struct search *s, struct tree_node *node, unsigned long min, unsigned long max)
{
	unsigned int start = slot_of(node, s->low), end = slot_of(node, s->high), i;

	for (i = 0; i <= end - start; i++) {
		unsigned int at = s->rev ? end - i : start + i;
		unsigned long first = slot_first(node, at, min), last = slot_last(node, at, max);
		void *slot = slot_at(node, at);
		bool found;

		if (node->kind == MAPLE_LEAF)
			found = !slot && try_gap(s, first, last);
		else if (node->kind == MAPLE_GAPS && READ_ONCE(node->gaps.gap[at]) <= s->more)
			found = false;
		else
			found = try_node(s, slot, first, last);
		if (found)
			return true;
	}
	return false;
}

static int find_gap(struct ma_state *mas, unsigned long min, unsigned long max, unsigned long size, bool rev)
{
	struct search s = { min, max, size - 1, rev, 0 };
	void *root = rcu_dereference(mas->tree->ma_root);
	bool found;

	/* Up to 6.4 a window that is too small is like one that is full. */
	if (min > max || !size || (max - min < size - 1 && LINUX_VERSION_CODE >= KERNEL_VERSION(6, 5, 0)))
		return -EINVAL;
	if (root_is_node(root))
		found = try_node(&s, root_node(root), 0, ULONG_MAX);
	else
		found = try_gap(&s, root ? 1 : 0, ULONG_MAX);
	if (!found) {
		mas_reset(mas);
		return -EBUSY;
	}
	mas->index = s.found;
	mas->last = s.found + size - 1;
	stand(mas, ma_active, NULL);
	return 0;
}

int mas_empty_area(struct ma_state *mas, unsigned long min, unsigned long max, unsigned long size)
{
	return find_gap(mas, min, max, size, false);
}

int mas_empty_area_rev(struct ma_state *mas, unsigned long min, unsigned long max, unsigned long size)
{
	return find_gap(mas, min, max, size, true);
}

/* Stores at a gap. The lock may be given up for memory: then the gap is looked for again. */
static int store_at_gap(struct ma_state *mas, void *entry, unsigned long min, unsigned long max, unsigned long size,
			bool rev, gfp_t gfp)
{
	int error;

	do {
		error = find_gap(mas, min, max, size, rev);
		if (error)
			break;
		error = kapi_mas_write(mas, entry);
		if (error)
			fail(mas, error);
	} while (error && mas_nomem(mas, gfp));
	mas_destroy(mas);
	return error;
}

static int alloc_range(struct maple_tree *mt, unsigned long *startp, void *entry, unsigned long size, unsigned long min,
		       unsigned long max, bool rev, gfp_t gfp)
{
	MA_STATE(mas, mt, 0, 0);
	int error;

	if (WARN_ON_ONCE(!(mt->ma_flags & MT_FLAGS_ALLOC_RANGE)) || kapi_is_reserved(entry))
		return -EINVAL;
	mtree_lock(mt);
	error = store_at_gap(&mas, entry, min, max, size, rev, gfp);
	if (!error)
		*startp = mas.index;
	mtree_unlock(mt);
	return error;
}

int mtree_alloc_range(struct maple_tree *mt, unsigned long *startp, void *entry, unsigned long size, unsigned long min,
		      unsigned long max, gfp_t gfp)
{
	kapi_may_alloc(gfp);
	return alloc_range(mt, startp, entry, size, min, max, false, gfp);
}

int mtree_alloc_rrange(struct maple_tree *mt, unsigned long *startp, void *entry, unsigned long size, unsigned long min,
		       unsigned long max, gfp_t gfp)
{
	kapi_may_alloc(gfp);
	return alloc_range(mt, startp, entry, size, min, max, true, gfp);
}

int mas_alloc_cyclic(struct ma_state *mas, unsigned long *startp, void *entry, unsigned long range_lo,
		     unsigned long range_hi, unsigned long *next, gfp_t gfp)
{
	unsigned long min = max(range_lo, *next);
	int error = -EBUSY;

	if (!(mas->tree->ma_flags & MT_FLAGS_ALLOC_RANGE) || kapi_is_reserved(entry))
		return -EINVAL;
	if (min <= range_hi)
		error = store_at_gap(mas, entry, min, range_hi, 1, false, gfp);
	if (error == -EBUSY && min > range_lo) {
		mas->tree->ma_flags |= MT_FLAGS_ALLOC_WRAPPED;
		error = store_at_gap(mas, entry, range_lo, range_hi, 1, false, gfp);
	}
	if (error)
		return error;
	*startp = mas->index;
	*next = *startp + 1;
	if (mas->tree->ma_flags & MT_FLAGS_ALLOC_WRAPPED) {
		mas->tree->ma_flags &= ~MT_FLAGS_ALLOC_WRAPPED;
		error = 1;
	}
	/* The index behind the last one is 0: the next one came around. */
	if (!*next)
		mas->tree->ma_flags |= MT_FLAGS_ALLOC_WRAPPED;
	return error;
}

int mtree_alloc_cyclic(struct maple_tree *mt, unsigned long *startp, void *entry, unsigned long range_lo,
		       unsigned long range_hi, unsigned long *next, gfp_t gfp)
{
	MA_STATE(mas, mt, 0, 0);
	int error;

	kapi_may_alloc(gfp);
	mtree_lock(mt);
	error = mas_alloc_cyclic(&mas, startp, entry, range_lo, range_hi, next, gfp);
	mtree_unlock(mt);
	return error;
}
