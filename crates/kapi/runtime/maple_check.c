// SPDX-License-Identifier: MIT OR Apache-2.0
// What CONFIG_DEBUG_MAPLE_TREE has: a tree is looked through for what must hold of it, and printed.
#include "maple.h"

/* What tests count with MT_BUG_ON(). */
atomic_t maple_tree_tests_run, maple_tree_tests_passed;

struct check {
	struct maple_tree *mt;
	unsigned int height;
	/* The range before was NULL. */
	bool was_null;
};

static bool check_node(struct check *check, struct tree_node *node, unsigned int depth, unsigned long min, unsigned long max,
		       unsigned long *gap)
{
	bool gaps = check->mt->ma_flags & MT_FLAGS_ALLOC_RANGE, is_leaf = depth + 1 == check->height;
	enum maple_kind kind = is_leaf ? MAPLE_LEAF : gaps ? MAPLE_GAPS : MAPLE_INNER;
	unsigned long largest = 0, below;
	unsigned int i;

	if (node->kind != kind || !node->count || node->count > capacity_of(kind) || node->dead)
		return false;
	for (i = 0; i < node->count; i++) {
		unsigned long first = slot_first(node, i, min), last = slot_last(node, i, max);
		void *slot = slots_of(node)[i];

		if (first > last || last > max)
			return false;
		below = slot ? 0 : last - first + 1;
		if (is_leaf) {
			if (!slot && check->was_null)
				return false;
			check->was_null = !slot;
		} else if (!check_node(check, slot, depth + 1, first, last, &below)) {
			return false;
		} else if (gaps && node->gaps.gap[i] != below) {
			return false;
		}
		largest = max(largest, below);
	}
	*gap = largest;
	return true;
}

void mt_validate(struct maple_tree *mt)
{
	struct check check = { mt, mt_height(mt), false };
	void *root = mt->ma_root;
	unsigned long gap;
	bool whole = root_is_node(root) ? check.height && check_node(&check, root_node(root), 0, 0, ULONG_MAX, &gap) :
					  !check.height;

	WARN(!whole, "maple tree %p is damaged\n", mt);
}

#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 4, 0)
void mt_dump(const struct maple_tree *mt, enum mt_dump_format format)
#else
void mt_dump(const struct maple_tree *mt)
#endif
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 4, 0)
	const char *form = format == mt_dump_hex ? "%#lx-%#lx: %p\n" : "%lu-%lu: %p\n";
#else
	const char *form = "%lu-%lu: %p\n";
#endif
	MA_STATE(mas, (struct maple_tree *)mt, 0, 0);
	void *entry;

	printk("maple_tree(%p) flags %X, height %u root %p\n", mt, mt->ma_flags, mt_height(mt), mt->ma_root);
	mas_for_each(&mas, entry, ULONG_MAX)
		printk(form, mas.index, mas.last, entry);
}

void mas_dump(const struct ma_state *mas)
{
	printk("mas: tree %p, index %lx, last %lx, node %p, status %d\n", mas->tree, mas->index, mas->last, mas->node,
	       status_of(mas));
}
