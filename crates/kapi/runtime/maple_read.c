// SPDX-License-Identifier: MIT OR Apache-2.0
// The maple tree as readers see it: entries by index, and steps of a state from range to range.
#include "maple.h"

/*
 * The way down. A node that was reached stays as it is while the reader is in its section, or has the lock: so whatever
 * a change does meanwhile, this is the tree as it was when the way began, or with single slots that are newer.
 */
void *kapi_mas_seek(struct ma_state *mas, unsigned long index)
{
	void *entry = rcu_dereference(mas->tree->ma_root);
	struct tree_node *node;
	unsigned int at;

	mas->min = mas->offset = 0;
	mas->max = ULONG_MAX;
	if (!root_is_node(entry)) {
		mas->index = entry && index ? 1 : 0;
		mas->last = entry && !index ? 0 : ULONG_MAX;
		stand(mas, entry && !index ? ma_root : ma_none, NULL);
		return index ? NULL : entry;
	}
	node = root_node(entry);
	for (;; node = entry) {
		at = slot_of(node, index);
		entry = slot_at(node, at);
		mas->index = slot_first(node, at, mas->min);
		mas->last = slot_last(node, at, mas->max);
		if (node->kind == MAPLE_LEAF)
			break;
		mas->min = mas->index;
		mas->max = mas->last;
	}
	mas->offset = at;
	mas->end = node->count - 1;
	stand(mas, ma_active, node);
	return entry;
}

/*
 * The leaf in which the state stands, if it is in the tree and still has there what the state says. Of a state that was
 * set to a part of its range, the range is the whole one again.
 */
static struct tree_node *leaf_of(struct ma_state *mas)
{
	struct tree_node *leaf = status_of(mas) == ma_active ? (struct tree_node *)mas->node : NULL;
	unsigned long first, last;

	if (!leaf || __atomic_load_n(&leaf->dead, __ATOMIC_ACQUIRE) || mas->offset >= leaf->count)
		return NULL;
	first = slot_first(leaf, mas->offset, mas->min);
	last = slot_last(leaf, mas->offset, mas->max);
	if (mas->index < first || mas->last > last)
		return NULL;
	mas->index = first;
	mas->last = last;
	return leaf;
}

/* One range up, which there is. */
static void *step_up(struct ma_state *mas)
{
	struct tree_node *leaf = leaf_of(mas);

	if (!leaf || mas->offset + 1U >= leaf->count)
		return kapi_mas_seek(mas, mas->last + 1);
	mas->offset++;
	mas->index = mas->last + 1;
	mas->last = slot_last(leaf, mas->offset, mas->max);
	return slot_at(leaf, mas->offset);
}

/* One range down, which there is. */
static void *step_down(struct ma_state *mas)
{
	struct tree_node *leaf = leaf_of(mas);

	if (!leaf || !mas->offset)
		return kapi_mas_seek(mas, mas->index - 1);
	mas->offset--;
	mas->last = mas->index - 1;
	mas->index = slot_first(leaf, mas->offset, mas->min);
	return slot_at(leaf, mas->offset);
}

/* Up to 6.4 a state that found nothing more stands at the limit, since then at the range over which that lies. */
#define STANDS_AT_LIMIT (LINUX_VERSION_CODE < KERNEL_VERSION(6, 5, 0))

static void *over(struct ma_state *mas, enum maple_status status)
{
	/* An entry at index 0 alone has nothing on its sides. */
	if (status_of(mas) != ma_none)
		stand(mas, status, status_of(mas) == ma_active ? mas->node : NULL);
	return NULL;
}

/* Up to the next entry whose range begins at @max or below; of @any, to the next range. */
static void *up(struct ma_state *mas, unsigned long max, bool any, enum maple_status at_end)
{
	void *entry;

	do {
		if (mas->last >= max)
			return over(mas, at_end);
		entry = step_up(mas);
	} while (!entry && !any);
	return entry;
}

static void *down(struct ma_state *mas, unsigned long min, bool any)
{
	void *entry;

	do {
		if (mas->index <= min) {
			if (STANDS_AT_LIMIT)
				mas->index = mas->last = min;
			return over(mas, ma_underflow);
		}
		entry = step_down(mas);
	} while (!entry && !any);
	return entry;
}

void *mas_walk(struct ma_state *mas)
{
	return kapi_mas_seek(mas, mas->index);
}

/*
 * Takes a state to the range from which it steps. A state that met the limit on the side to which it goes stands @ahead,
 * one that met the other limit @behind. Return: the entry there for the latter, since one step back is here.
 */
static void *begin(struct ma_state *mas, enum maple_status ahead, enum maple_status behind)
{
	const enum maple_status status = status_of(mas);

	if (status == ma_start || status == ma_none || status == ma_pause)
		kapi_mas_seek(mas, mas->index);
	else if (status == behind)
		return kapi_mas_seek(mas, mas->index);
	else if (status == ahead)
		stand(mas, ma_active, NULL);
	return NULL;
}

static void *next_range(struct ma_state *mas, unsigned long max, bool any)
{
	void *entry;

	if (status_of(mas) == ma_error)
		return NULL;
	if (mas->last >= max) {
		stand(mas, ma_overflow, NULL);
		return NULL;
	}
	entry = begin(mas, ma_overflow, ma_underflow);
	return entry ? entry : up(mas, max, any, ma_overflow);
}

void *mas_next(struct ma_state *mas, unsigned long max) { return next_range(mas, max, false); }
void *mas_next_range(struct ma_state *mas, unsigned long max) { return next_range(mas, max, true); }

static void *prev_range(struct ma_state *mas, unsigned long min, bool any)
{
	void *entry;

	if (status_of(mas) == ma_error)
		return NULL;
	if (mas->index <= min) {
		if (STANDS_AT_LIMIT)
			mas->last = mas->index = min;
		stand(mas, ma_underflow, NULL);
		return NULL;
	}
	entry = begin(mas, ma_underflow, ma_overflow);
	return entry ? entry : down(mas, min, any);
}

void *mas_prev(struct ma_state *mas, unsigned long min) { return prev_range(mas, min, false); }
void *mas_prev_range(struct ma_state *mas, unsigned long min) { return prev_range(mas, min, true); }

/* What stands between the calls of a search is where the last one ended. */
static void *find(struct ma_state *mas, unsigned long max, bool any)
{
	enum maple_status status = status_of(mas);
	void *entry;

	if (STANDS_AT_LIMIT && status == ma_active && mas->index > max) {
		mas->index = mas->last = max;
		mas_pause(mas);
		return NULL;
	}
	if (status == ma_error || (status == ma_start ? mas->index > max : mas->last >= max && status != ma_underflow))
		return NULL;
	switch (status) {
	case ma_active:
	case ma_root:
		return up(mas, max, any, ma_active);
	case ma_overflow:
		stand(mas, ma_active, NULL);
		return up(mas, max, any, ma_active);
	case ma_pause:
		mas->index = ++mas->last;
		break;
	case ma_none:
		mas->index = mas->last;
		break;
	case ma_underflow:
		if (mas->index > max)
			return NULL;
		break;
	default:
		break;
	}
	entry = kapi_mas_seek(mas, mas->index);
	return entry || any ? entry : up(mas, max, any, ma_active);
}

void *mas_find(struct ma_state *mas, unsigned long max) { return find(mas, max, false); }
void *mas_find_range(struct ma_state *mas, unsigned long max) { return find(mas, max, true); }

static void *find_rev(struct ma_state *mas, unsigned long min, bool any)
{
	enum maple_status status = status_of(mas);
	void *entry;

	if (status == ma_error)
		return NULL;
	if (status == ma_start ? mas->index < min : mas->index <= min && status != ma_overflow) {
		if (status == ma_root || status == ma_none)
			stand(mas, ma_none, NULL);
		else if (status != ma_start)
			stand(mas, ma_underflow, NULL);
		return NULL;
	}
	switch (status) {
	case ma_active:
	case ma_root:
		return down(mas, min, any);
	case ma_underflow:
		stand(mas, ma_active, NULL);
		return down(mas, min, any);
	case ma_pause:
		mas->last = --mas->index;
		break;
	case ma_none:
		mas->last = mas->index;
		break;
	default:
		break;
	}
	entry = kapi_mas_seek(mas, mas->index);
	return entry || any ? entry : down(mas, min, any);
}

void *mas_find_rev(struct ma_state *mas, unsigned long min) { return find_rev(mas, min, false); }
void *mas_find_range_rev(struct ma_state *mas, unsigned long min) { return find_rev(mas, min, true); }

void mas_pause(struct ma_state *mas)
{
	stand(mas, ma_pause, NULL);
}

void *mtree_load(struct maple_tree *mt, unsigned long index)
{
	MA_STATE(mas, mt, index, index);
	void *entry;

	rcu_read_lock();
	entry = mas_walk(&mas);
	rcu_read_unlock();
	return xa_is_zero(entry) ? NULL : entry;
}

void *mt_find(struct maple_tree *mt, unsigned long *index, unsigned long max)
{
	MA_STATE(mas, mt, *index, *index);
	void *entry;

	if (*index > max)
		return NULL;
	rcu_read_lock();
	do
		entry = mas_find(&mas, max);
	while (xa_is_zero(entry));
	rcu_read_unlock();
	if (entry)
		*index = mas.last + 1;
	return entry;
}

/* Behind the last index there is 0. */
void *mt_find_after(struct maple_tree *mt, unsigned long *index, unsigned long max)
{
	return *index ? mt_find(mt, index, max) : NULL;
}

void *mt_next(struct maple_tree *mt, unsigned long index, unsigned long max)
{
	MA_STATE(mas, mt, index, index);
	void *entry;

	rcu_read_lock();
	entry = mas_next(&mas, max);
	rcu_read_unlock();
	return entry;
}

void *mt_prev(struct maple_tree *mt, unsigned long index, unsigned long min)
{
	MA_STATE(mas, mt, index, index);
	void *entry;

	rcu_read_lock();
	entry = mas_prev(&mas, min);
	rcu_read_unlock();
	return entry;
}
