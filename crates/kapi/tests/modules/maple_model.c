// Random changes and lookups of a maple tree, each with what it gave: a test compares them with a map of ranges.
#include <linux/maple_tree.h>
#include <linux/module.h>

static ulong seed = 1, spread = 1;
static int steps = 1000, flags;
module_param(seed, ulong, 0);
module_param(steps, int, 0);
module_param(flags, int, 0);
module_param(spread, ulong, 0);

#define KEYS 3000UL

static struct maple_tree tree;

static unsigned long draw(unsigned long below)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (seed >> 11) % below;
}

static long value_of(void *entry) { return entry ? (long)xa_to_value(entry) : -1; }

static void tell(const char *what, long result, unsigned long index, unsigned long last)
{
	pr_info("%s %ld %lu %lu\n", what, result, index, last);
}

/* All ranges, up and down. */
static void walk_all(void)
{
	MA_STATE(mas, &tree, 0, 0);
	unsigned long sum = 0, count = 0;
	void *entry;

	mas_lock(&mas);
	mas_for_each(&mas, entry, ULONG_MAX) {
		count++;
		sum = sum * 31 + mas.index * 7 + mas.last * 3 + (unsigned long)value_of(entry);
	}
	tell("up", count, sum, 0);
	mas_set(&mas, ULONG_MAX);
	count = sum = 0;
	for (entry = mas_find_rev(&mas, 0); entry; entry = mas_find_rev(&mas, 0)) {
		count++;
		sum = sum * 31 + mas.index * 7 + mas.last * 3 + (unsigned long)value_of(entry);
	}
	tell("down", count, sum, 0);
	mas_unlock(&mas);
}

static void change(unsigned long what, unsigned long first, unsigned long last, void *entry)
{
	unsigned long at = 0;
	int error;

	switch (what) {
	case 0 ... 4:
		tell("store", mtree_store_range(&tree, first, last, entry, GFP_KERNEL), first, last);
		break;
	case 5:
		tell("clear", mtree_store_range(&tree, first, last, NULL, GFP_KERNEL), first, last);
		break;
	case 6:
		tell("insert", mtree_insert_range(&tree, first, last, entry, GFP_KERNEL), first, last);
		break;
	case 7:
		tell("erase", value_of(mtree_erase(&tree, first)), first, 0);
		break;
	case 8:
		if (!(flags & MT_FLAGS_ALLOC_RANGE))
			break;
		error = mtree_alloc_range(&tree, &at, entry, last - first + 1, first / 2, KEYS * spread, GFP_KERNEL);
		tell("low", error, at, 0);
		break;
	case 9:
		if (!(flags & MT_FLAGS_ALLOC_RANGE))
			break;
		error = mtree_alloc_rrange(&tree, &at, entry, last - first + 1, first / 2, KEYS * spread, GFP_KERNEL);
		tell("high", error, at, 0);
		break;
	}
}

/* A change by a state, with nodes that were allocated before. */
static void prepared(unsigned long first, unsigned long last, void *entry)
{
	MA_STATE(mas, &tree, first, last);

	mas_lock(&mas);
	tell("prepare", mas_preallocate(&mas, entry, GFP_NOWAIT), first, last);
	mas_store_prealloc(&mas, entry);
	entry = mas_next(&mas, ULONG_MAX);
	tell("behind", value_of(entry), entry ? mas.index : 0, entry ? mas.last : 0);
	mas_unlock(&mas);
}

static void look(unsigned long what, unsigned long first, unsigned long last)
{
	MA_STATE(mas, &tree, first, first);
	void *entry;

	mas_lock(&mas);
	switch (what) {
	case 0:
		tell("load", value_of(mtree_load(&tree, first)), first, 0);
		break;
	case 1:
		entry = mt_find(&tree, &first, last);
		tell("find", value_of(entry), first, last);
		break;
	case 2:
		entry = mas_walk(&mas);
		tell("walk", value_of(entry), mas.index, mas.last);
		entry = mas_next_range(&mas, ULONG_MAX);
		tell("next", value_of(entry), mas.index, mas.last);
		break;
	case 3:
		entry = mas_walk(&mas);
		entry = mas_prev(&mas, 0);
		tell("prev", value_of(entry), entry ? mas.index : 0, entry ? mas.last : 0);
		entry = mas_next(&mas, ULONG_MAX);
		tell("back", value_of(entry), entry ? mas.index : 0, entry ? mas.last : 0);
		break;
	case 4:
		tell("gap", mas_empty_area(&mas, first, last + 500, 20), 0, 0);
		break;
	case 5:
		if (mas_empty_area_rev(&mas, first, last + 500, 20))
			mas.index = mas.last = 0;
		tell("gap_rev", 0, mas.index, mas.last);
		break;
	}
	mas_unlock(&mas);
}

static int __init start(void)
{
	long i;

	mt_init_flags(&tree, flags);
	for (i = 0; i < steps; i++) {
		unsigned long first = draw(KEYS) * spread, what = draw(20);
		unsigned long last = first + (draw(8) ? draw(12) : draw(900)) * spread;
		void *entry = xa_mk_value(i);

		if (what < 10)
			change(what, first, last, entry);
		else if (what == 10)
			prepared(first, last, draw(3) ? entry : NULL);
		else
			look(what % 6, first, last);
		mt_validate(&tree);
		if (i % 50 == 0)
			walk_all();
		if (i % 700 == 699) {
			int error = mtree_store_range(&tree, 0, ULONG_MAX, NULL, GFP_KERNEL);

			tell("empty", error, mtree_empty(&tree), mt_height(&tree));
		}
	}
	walk_all();
	mtree_destroy(&tree);
	return 0;
}

static void __exit stop(void) { }

module_init(start);
module_exit(stop);
MODULE_LICENSE("Dual MIT/GPL");
