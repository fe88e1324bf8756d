// SPDX-License-Identifier: MIT OR Apache-2.0
// Readers without a lock beside writers. Entries that stay are always there, in order, both ways; what comes and goes
// between them is either there or not, and is never anything else.
#include "../../runtime/maple.h"

#define RESIDENTS 300UL
#define STRIDE 100UL
#define WIDTH 10UL
#define READERS 3
#define WRITERS 2
#define ROUNDS_WRITER 30000UL

extern void host_start(unsigned long *thread, void *(*run)(void *), void *arg);
extern void host_join(unsigned long thread);
extern void host_free_later(void);
extern long host_nodes;

static struct maple_tree tree;
static int done, wrong;
static unsigned long walks;

static void check(bool right, const char *what, unsigned long index)
{
	if (right)
		return;
	printk("wrong: %s at %lu\n", what, index);
	__atomic_fetch_add(&wrong, 1, __ATOMIC_RELAXED);
}

static unsigned long draw(unsigned long *seed, unsigned long below)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	*seed ^= *seed << 17;
	return (*seed >> 11) % below;
}

/* An entry says where its range began when it was stored; later ones may have taken parts of it. */
static bool is_resident(unsigned long index) { return index % STRIDE < WIDTH; }

static void look_at(unsigned long index, void *entry)
{
	unsigned long first = xa_to_value(entry);

	if (is_resident(index))
		check(entry == xa_mk_value(index / STRIDE * STRIDE), "load", index);
	else
		check(!entry || (first <= index && index - first < STRIDE && !is_resident(first)), "load between", index);
}

static void walk(bool up)
{
	MA_STATE(mas, &tree, up ? 0 : ULONG_MAX, up ? 0 : ULONG_MAX);
	unsigned long met = 0;
	void *entry;

	rcu_read_lock();
	while ((entry = up ? mas_find(&mas, ULONG_MAX) : mas_find_rev(&mas, 0)) != NULL) {
		unsigned long first = xa_to_value(entry);

		if (!is_resident(first))
			continue;
		check(first == (up ? met : RESIDENTS - 1 - met) * STRIDE, "order", first);
		check(mas.index == first && mas.last == first + WIDTH - 1, "range", first);
		met++;
	}
	rcu_read_unlock();
	check(met == RESIDENTS, up ? "walk up" : "walk down", met);
	__atomic_fetch_add(&walks, 1, __ATOMIC_RELAXED);
}

static void *reader(void *arg)
{
	unsigned long seed = 77 + (unsigned long)arg, i;

	while (!__atomic_load_n(&done, __ATOMIC_ACQUIRE)) {
		for (i = 0; i < 200; i++) {
			unsigned long index = draw(&seed, RESIDENTS * STRIDE), at = index;

			look_at(index, mtree_load(&tree, index));
			index -= index % STRIDE;
			check(mt_find(&tree, &at, index + 2 * STRIDE) != NULL || at >= (RESIDENTS - 1) * STRIDE, "find", index);
		}
		walk(seed & 1);
	}
	return NULL;
}

static void *writer(void *arg)
{
	unsigned long seed = 1234567 + (unsigned long)arg, i;

	for (i = 0; i < ROUNDS_WRITER; i++) {
		unsigned long slot = draw(&seed, RESIDENTS) * STRIDE, first = slot + WIDTH + draw(&seed, STRIDE - WIDTH);
		unsigned long last = min(first + draw(&seed, 30), slot + STRIDE - 1);

		switch (draw(&seed, 4)) {
		case 0:
			mtree_store_range(&tree, slot + WIDTH, slot + STRIDE - 1, NULL, GFP_KERNEL);
			break;
		case 1: {
			/* What is there becomes an entry of its own. */
			MA_STATE(mas, &tree, first, first);
			void *entry;

			mas_lock(&mas);
			entry = mas_walk(&mas);
			if (entry && !is_resident(first))
				mas_erase(&mas);
			mas_unlock(&mas);
			break;
		}
		default:
			mtree_store_range(&tree, first, last, xa_mk_value(first), GFP_KERNEL);
		}
		/* From one node to many levels and back. */
		if (arg && i % 5000 == 4999)
			mtree_store_range(&tree, RESIDENTS * STRIDE, ULONG_MAX, i % 2 ? xa_mk_value(RESIDENTS * STRIDE + WIDTH) : NULL,
					  GFP_KERNEL);
	}
	return NULL;
}

int tree_main(int argc, char **argv)
{
	unsigned long threads[READERS + WRITERS], i;
	unsigned int flags = argc > 1 ? MT_FLAGS_USE_RCU : MT_FLAGS_USE_RCU | MT_FLAGS_ALLOC_RANGE;

	mt_init_flags(&tree, flags);
	for (i = 0; i < RESIDENTS; i++)
		mtree_store_range(&tree, i * STRIDE, i * STRIDE + WIDTH - 1, xa_mk_value(i * STRIDE), GFP_KERNEL);
	for (i = 0; i < READERS + WRITERS; i++)
		host_start(&threads[i], i < READERS ? reader : writer, (void *)i);
	for (i = READERS; i < READERS + WRITERS; i++)
		host_join(threads[i]);
	__atomic_store_n(&done, 1, __ATOMIC_RELEASE);
	for (i = 0; i < READERS; i++)
		host_join(threads[i]);
	mt_validate(&tree);
	mtree_destroy(&tree);
	host_free_later();
	printk("maple races: wrong %d, nodes left %ld, walked %d\n", wrong, host_nodes, walks > 0);
	return wrong || host_nodes;
}
