/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Random histories, told line by line: compiled once with our array and once with lib/xarray.c, the two must
 * tell the same.
 *
 * Kept out, because lib/xarray.c of 6.1 does not do there what its documentation says (each was seen in these
 * histories): marked searches that start inside a multi-index entry (its first index is returned, which may be
 * below the start), marks after xas_split() (left on indices that have no entry), ranges stored over parts of
 * ranges (indices are lost), steps around ULONG_MAX, and cursors at index 0 of XA_FLAGS_ALLOC1 arrays (a zero
 * entry that nobody stored).
 */

/* What a history is about. */
enum family { PLAIN, IDS, IDS_FROM_ONE, ORDERS, SPLITS, RANGES, FAMILIES };

static unsigned long state;
static enum family family;
static int spread;
static unsigned long far[64];
static char objects[4096] __attribute__((__aligned__(16)));

static unsigned long below(unsigned long end)
{
	unsigned long z = state += 0x9e3779b97f4a7c15UL;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9UL;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebUL;
	return (z ^ (z >> 31)) % end;
}

static unsigned long any_index(void)
{
	switch (spread) {
	case 0:
		return 1 + below(100);
	case 1:
		return 1 + below(5000);
	case 2:
		return far[below(64)];
	case 3:
		return far[below(64)] + below(4);
	case 4:
		return 64 + below(40) * 64 + below(2);
	default:
		return below(3) ? 1 + below(200) : far[below(64)];
	}
}

static void *any_entry(void)
{
	if (below(3))
		return xa_mk_value(below(1000));
	if (below(4) == 0)
		return xa_tag_pointer(objects + 16 * below(256), below(2) ? 1 : 3);
	return objects + 4 * below(1024);
}

/* The same number in both programs: addresses are told from the first object on. */
static long told(void *entry)
{
	if ((char *)entry >= objects && (char *)entry < objects + sizeof(objects))
		return 1000000 + ((char *)entry - objects);
	return (long)entry;
}

static xa_mark_t any_mark(void)
{
	return family == IDS || family == IDS_FROM_ONE ? 1 + below(2) : below(3);
}

static int has_marks(void)
{
	return family != SPLITS && family != RANGES;
}

static xa_mark_t any_filter(void)
{
	return !has_marks() || below(2) ? XA_PRESENT : any_mark();
}

static unsigned long any_end(unsigned long from)
{
	return below(2) ? ULONG_MAX : from + below(500);
}

static void tell_all(struct xarray *xa)
{
	unsigned long index;
	void *entry;
	int count = 0, mark;

	if (family == RANGES) {
		/* The pieces of a range are nobody's business. */
		for (count = 0; count < 200; count++) {
			index = any_index();
			printf(" %lx:%ld", index, told(xa_load(xa, index)));
		}
	} else xa_for_each(xa, index, entry) {
		printf(" %lx:%ld/%d", index, told(entry), xa_get_order(xa, index));
		for (mark = 1; mark < 3; mark++)
			printf("%s", xa_get_mark(xa, index, mark) ? "m" : "-");
		if (++count > 300)
			break;
	}
	printf(" empty %d marked %d%d\n", xa_empty(xa), xa_marked(xa, 1), xa_marked(xa, 2));
}

static void change_one(struct xarray *xa, unsigned long index)
{
	void *entry = any_entry(), *old;

	switch (below(8)) {
	case 0:
	case 1:
	case 2:
		printf("store %ld", told(xa_store(xa, index, entry, GFP_KERNEL)));
		break;
	case 3:
	case 4:
		printf("erase %ld", told(xa_erase(xa, index)));
		break;
	case 5:
		entry = below(5) ? entry : NULL;
		printf("insert %d", xa_insert(xa, index, entry, GFP_KERNEL));
		break;
	case 6:
		old = below(3) ? xa_load(xa, index) : below(2) ? any_entry() : NULL;
		entry = below(4) ? entry : NULL;
		printf("cmpxchg %ld", told(xa_cmpxchg(xa, index, old, entry, GFP_KERNEL)));
		break;
	default:
		if (below(2))
			printf("reserve %d", xa_reserve(xa, index, GFP_KERNEL));
		else
			xa_release(xa, index);
	}
}

static void change_mark(struct xarray *xa, unsigned long index)
{
	xa_mark_t mark = any_mark();
	XA_STATE(xas, xa, index);

	switch (below(4)) {
	case 0:
	case 1:
		xa_set_mark(xa, index, mark);
		break;
	case 2:
		xa_clear_mark(xa, index, mark);
		break;
	default:
		xas_lock(&xas);
		if (xas_load(&xas))
			xas_set_mark(&xas, mark);
		xas_unlock(&xas);
	}
	printf("mark %d %d", mark, xa_get_mark(xa, index, mark));
}

static void change_many(struct xarray *xa, unsigned long index)
{
	void *entry = below(5) ? any_entry() : NULL;
	unsigned int order = below(12) ? below(9) : below(20), old_order = xa_get_order(xa, index);
	XA_STATE_ORDER(xas, xa, index, order);

	if (family == RANGES) {
		unsigned long last = index + below(below(4) ? 100 : 20000), found = index;

		/* Over nothing, so that no entry is cut. */
		entry = any_entry();
		if (!xa_find(xa, &found, last, XA_PRESENT))
			printf("range %ld", told(xa_store_range(xa, index, last, entry, GFP_KERNEL)));
		return;
	}
	if (family == SPLITS && below(2)) {
		/* One level of nodes at most. */
		order = old_order > 6 ? old_order - 1 - below(old_order % 6 + 1) : below(old_order + 1);
		entry = xa_load(xa, index);
		if (!entry || order >= old_order)
			return;
		xas_set_order(&xas, index >> old_order << old_order, order);
		xas_split_alloc(&xas, entry, old_order, GFP_KERNEL);
		xas_lock(&xas);
		xas_split(&xas, entry, old_order);
		xas_unlock(&xas);
		printf("split %u to %u", old_order, order);
		return;
	}
	do {
		xas_lock(&xas);
		xas_store(&xas, entry);
		xas_unlock(&xas);
	} while (xas_nomem(&xas, GFP_KERNEL));
	printf("order %u %d", order, xas_error(&xas));
}

static void change_ids(struct xarray *xa)
{
	static u32 next;
	unsigned int min = below(100), max = below(3) ? min + below(200) : below(50);
	void *entry = below(8) ? any_entry() : NULL;
	u32 id = 0;
	int error;

	if (below(2))
		error = xa_alloc(xa, &id, entry, XA_LIMIT(min, max), GFP_KERNEL);
	else
		error = xa_alloc_cyclic(xa, &id, entry, XA_LIMIT(min, max), &next, GFP_KERNEL);
	printf("alloc %d id %u next %u", error, error < 0 ? 0 : id, next);
}

static void look(struct xarray *xa, unsigned long index)
{
	unsigned int order = xa_get_order(xa, index), count = 0;
	unsigned long start = family == PLAIN ? index : index >> order << order, max = any_end(start);
	xa_mark_t filter = any_filter();
	void *entry, *found[8];
	XA_STATE(xas, xa, start);

	switch (family == RANGES ? 0 : below(8)) {
	case 0:
		printf("load %ld", told(xa_load(xa, index)));
		break;
	case 1:
		entry = xa_find(xa, &start, max, filter);
		printf("find %lx:%ld", start, told(entry));
		break;
	case 2:
		entry = xa_find_after(xa, &start, max, order ? XA_PRESENT : filter);
		printf("after %lx:%ld", start, told(entry));
		break;
	case 3:
		order = xa_extract(xa, found, start, max, below(9), filter);
		printf("extract");
		for (count = 0; count < order; count++)
			printf(" %ld", told(found[count]));
		break;
	case 4:
		printf("each");
		rcu_read_lock();
		xas_for_each(&xas, entry, max) {
			printf(" %lx:%ld", xas.xa_index, told(entry));
			if (xas_retry(&xas, entry))
				continue;
			if (++count > 20)
				break;
			if (below(8) == 0)
				xas_pause(&xas);
		}
		rcu_read_unlock();
		break;
	case 5:
		if (!has_marks())
			break;
		printf("each marked");
		rcu_read_lock();
		xas_for_each_marked(&xas, entry, max, any_mark()) {
			printf(" %lx:%ld", xas.xa_index, told(entry));
			if (++count > 20)
				break;
		}
		rcu_read_unlock();
		break;
	case 6:
		printf("steps");
		for (count = 0; family == PLAIN && start < ULONG_MAX / 2 && start > 20 && count < 12; count++) {
			entry = below(2) ? xas_next(&xas) : xas_prev(&xas);
			printf(" %lx:%ld", xas.xa_index, told(entry));
		}
		break;
	default:
		printf("erase while iterating");
		xas_lock(&xas);
		xas_for_each(&xas, entry, start + 300 < start ? ULONG_MAX : start + 300) {
			printf(" %lx", xas.xa_index);
			if (below(3) == 0)
				printf(":%ld", told(xas_store(&xas, NULL)));
			if (++count > 20)
				break;
		}
		xas_unlock(&xas);
	}
}

static void tell_history(unsigned long seed, int length)
{
	struct xarray xa;
	int i;

	state = seed;
	family = below(FAMILIES);
	spread = below(6);
	for (i = 0; i < 64; i++)
		far[i] = (1 + below(ULONG_MAX)) >> below(64) >> (family == IDS || family == IDS_FROM_ONE ? 32 : 1) | 64;
	xa_init_flags(&xa, family == IDS ? XA_FLAGS_ALLOC : family == IDS_FROM_ONE ? XA_FLAGS_ALLOC1 : 0);
	printf("history %lu family %d spread %d\n", seed, family, spread);
	for (i = 0; i < length; i++) {
		unsigned long index = any_index();

		printf("%d %lx: ", i, index);
		switch (below(4)) {
		case 0:
			change_one(&xa, index);
			break;
		case 1:
			if (family == IDS || family == IDS_FROM_ONE)
				change_ids(&xa);
			else if (family != PLAIN)
				change_many(&xa, index);
			else
				change_one(&xa, index);
			break;
		case 2:
			if (has_marks())
				change_mark(&xa, index);
			break;
		default:
			look(&xa, index);
		}
		printf("\n");
		if (i % 16 == 0)
			tell_all(&xa);
	}
	tell_all(&xa);
	xa_destroy(&xa);
}

/* program HISTORIES LENGTH */
int main(int argc, char **argv)
{
	unsigned long seed, histories = argc > 1 ? strtoul(argv[1], NULL, 0) : 1;

	for (seed = 0; seed < histories; seed++)
		tell_history(seed, argc > 2 ? (int)strtoul(argv[2], NULL, 0) : 200);
	return 0;
}
