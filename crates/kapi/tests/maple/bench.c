// SPDX-License-Identifier: MIT OR Apache-2.0
// Times of a maple tree, for bench/kapi/maple.sh: the same ranges and draws as its program of Rust. With LINUX_MAPLE the
// tree is that of a Linux source.
#ifdef LINUX_MAPLE
#include <linux/kernel.h>
#include <linux/maple_tree.h>
#include <linux/xarray.h>
#else
#include "../../runtime/maple.h"
#endif

extern unsigned long host_ns(void);
#ifdef LINUX_MAPLE
extern int nr_allocated;
#define host_nodes nr_allocated
#else
extern long host_nodes;
#endif
extern int atoi(const char *text);

static struct maple_tree tree;
static unsigned long seed;

static unsigned long draw(unsigned long below)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (seed >> 11) % below;
}

#define TIME(name, count, ...) do {						\
	unsigned long start = host_ns(), i;					\
	seed = 88172645463325252UL;						\
	for (i = 0; i < (count); i++) {						\
		__VA_ARGS__;							\
	}									\
	printk("%s %lu\n", name, (host_ns() - start) * 10 / (count));		\
} while (0)

int tree_main(int argc, char **argv)
{
	unsigned long n = argc > 1 ? atoi(argv[1]) : 100000, sum = 0, at;
	MA_STATE(mas, &tree, 0, 0);
	void *entry;

	mt_init_flags(&tree, argc > 2 ? atoi(argv[2]) : 0);
	TIME("append", n, mtree_store_range(&tree, i * 16, i * 16 + 9, xa_mk_value(i), GFP_KERNEL));
	TIME("load", 4 * n, sum += (unsigned long)mtree_load(&tree, draw(n * 16)));
	TIME("walk", 1, mas_for_each(&mas, entry, ULONG_MAX) sum += mas.index);
	TIME("find", 4 * n, at = draw(n * 16); sum += (unsigned long)mt_find(&tree, &at, ULONG_MAX));
	printk("bytes %lu\n", (unsigned long)host_nodes * 256 * 10 / n);
	TIME("overwrite", n, at = draw(n) * 16; mtree_store_range(&tree, at, at + 9, xa_mk_value(i), GFP_KERNEL));
	TIME("split", n, at = draw(n * 16); mtree_store_range(&tree, at, at + 3, xa_mk_value(i), GFP_KERNEL));
	TIME("erase", n, mtree_erase(&tree, draw(n * 16)));
	TIME("random", n, at = draw(n * 16); mtree_store_range(&tree, at, at + draw(40), draw(3) ? xa_mk_value(i) : NULL, GFP_KERNEL));
	mtree_destroy(&tree);
	return !sum;
}
