/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * What tools/testing/radix-tree/maple.c of a Linux source needs beside the tree's interface, in the words of our nodes:
 * where a state's leaf is, how full it is, and the nodes in order. It stands where that file includes Linux's own tree.
 */
#ifndef CASES_H
#define CASES_H

#define CONFIG_DEBUG_MAPLE_TREE
#include "../../runtime/maple.h"
#include <linux/init.h>
#include <linux/module.h>
#include <linux/rwsem.h>

#undef module_init
#undef module_exit
#undef MODULE_AUTHOR
#undef MODULE_DESCRIPTION
#undef MODULE_LICENSE

typedef unsigned long pthread_t;
typedef union {
	char bytes[64];
	long align;
} pthread_mutex_t;
extern int pthread_create(pthread_t *thread, const void *attr, void *(*run)(void *), void *arg);
extern int pthread_join(pthread_t thread, void **result);
extern int pthread_mutex_init(pthread_mutex_t *mutex, const void *attr);
extern int pthread_mutex_trylock(pthread_mutex_t *mutex);
extern int pthread_mutex_unlock(pthread_mutex_t *mutex);
extern int usleep(unsigned int us);
extern void srand(unsigned int seed);
extern int rand(void);
extern long time(long *now);
extern void perror(const char *text);
extern void exit(int status);
extern void abort(void);
extern int printf(const char *form, ...);

#define assert(condition) do { if (!(condition)) abort(); } while (0)
#define rcu_register_thread() do { } while (0)
#define rcu_unregister_thread() do { } while (0)
#define uatomic_inc(p) __atomic_fetch_add(p, 1, __ATOMIC_SEQ_CST)
#undef rcu_barrier
#define rcu_barrier() host_free_later()

extern void host_free_later(void);
extern void host_set_non_kernel(int count);
extern void host_set_callback(void (*callback)(void *), void *private);
extern void *host_private;
extern long host_nodes, host_allocs;
#define mt_set_non_kernel(count) host_set_non_kernel(count)
#define mt_set_private(p) (host_private = (p))
#define mt_set_callback(f) host_set_callback(f, host_private)
#define mt_zero_nr_tallocated() (host_allocs = 0)
#define mt_nr_tallocated() ((int)host_allocs)
#define mt_nr_allocated() ((int)host_nodes)
#define mt_get_alloc_size() ((unsigned long)host_nodes * 256)
static int nr_allocated;

enum maple_type {
	maple_leaf_64,
	maple_range_64,
	maple_arange_64,
};
static const unsigned char mt_slots[] = { MAPLE_RANGE64_SLOTS, MAPLE_RANGE64_SLOTS, MAPLE_ARANGE64_SLOTS };

#define mas_is_ptr(mas) (status_of(mas) == ma_root)
#define mte_node_type(node) ((enum maple_type)((struct tree_node *)(node))->kind)
/* Of no node: as many as a node of Linux's has at most. */
#define mt_slot_count(node) ((node) ? mt_slots[mte_node_type(node)] : MAPLE_NODE_SLOTS)
#define mte_is_leaf(node) (mte_node_type(node) == maple_leaf_64)
#define mas_mt_height(mas) mt_height((mas)->tree)

/* The node that the state stands in: after a change, the leaf of its range. */
static struct tree_node *node_of(struct ma_state *mas)
{
	unsigned long index = mas->index, last = mas->last;

	if (status_of(mas) != ma_active || !mas->node) {
		kapi_mas_seek(mas, index);
		mas->index = index;
		mas->last = last;
	}
	return (struct tree_node *)mas->node;
}

static inline unsigned char mas_data_end(struct ma_state *mas) { return node_of(mas)->count - 1; }

/* Goes to the root. */
static void mas_start(struct ma_state *mas)
{
	void *root = mas->tree->ma_root;

	mas->min = mas->offset = 0;
	mas->max = ULONG_MAX;
	if (root_is_node(root))
		stand(mas, ma_active, root_node(root));
	else
		stand(mas, root ? ma_root : ma_none, NULL);
}

/* Goes to a child. */
static void mas_descend(struct ma_state *mas)
{
	struct tree_node *node = (struct tree_node *)mas->node;
	unsigned int at = mas->offset;
	unsigned long max = slot_last(node, at, mas->max);

	mas->min = slot_first(node, at, mas->min);
	mas->max = max;
	mas->offset = 0;
	stand(mas, ma_active, slots_of(node)[at]);
}

/* Goes to the parent, where the offset is that of the node. */
static void mas_ascend(struct ma_state *mas)
{
	struct tree_node *node = node_of(mas);
	unsigned long index = mas->min;
	struct ma_state above = *mas;

	mas_start(&above);
	if ((struct tree_node *)above.node == node)
		return;
	for (;;) {
		above.offset = slot_of((struct tree_node *)above.node, index);
		if (slots_of((struct tree_node *)above.node)[above.offset] == node)
			break;
		mas_descend(&above);
	}
	above.index = mas->index;
	above.last = mas->last;
	*mas = above;
}

/* Of a node that has the tree's lock around it; the functions that ask call the tree mt. */
#define mte_parent(node) parent_of(mt, (struct tree_node *)(node))

static struct tree_node *parent_of(struct maple_tree *tree, struct tree_node *node)
{
	struct tree_node *above = root_node(tree->ma_root), *below = node;

	while (below->kind != MAPLE_LEAF)
		below = slots_of(below)[0];
	for (;;) {
		struct tree_node *child = slots_of(above)[slot_of(above, below->wide.last[0])];

		if (child == node || above->kind == MAPLE_LEAF)
			return above;
		above = child;
	}
}

/* The next node of the tree: a child, or else the one right of it or of one above. */
static void mas_dfs_preorder(struct ma_state *mas)
{
	struct tree_node *node, *root;

	if (status_of(mas) == ma_start || !mas->node) {
		mas_start(mas);
		return;
	}
	node = (struct tree_node *)mas->node;
	root = root_node(mas->tree->ma_root);
	if (node->kind != MAPLE_LEAF) {
		mas->offset = 0;
		mas_descend(mas);
		return;
	}
	for (;;) {
		if ((struct tree_node *)mas->node == root) {
			stand(mas, ma_none, NULL);
			return;
		}
		mas_ascend(mas);
		if (mas->offset + 1 < ((struct tree_node *)mas->node)->count) {
			mas->offset++;
			mas_descend(mas);
			return;
		}
	}
}

static inline void *mas_range_load(struct ma_state *mas, unsigned long *range_min, unsigned long *range_max)
{
	unsigned long index = mas->index, last = mas->last;
	void *entry = kapi_mas_seek(mas, index);

	*range_min = mas->index;
	*range_max = mas->last;
	mas->index = index;
	mas->last = last;
	if (status_of(mas) == ma_none)
		mas->offset = MAPLE_NODE_SLOTS;
	return entry;
}

/* Two trees have nodes of the same content. */
static int compare_tree(struct maple_tree *mt_a, struct maple_tree *mt_b)
{
	MA_STATE(a, mt_a, 0, 0);
	MA_STATE(b, mt_b, 0, 0);
	unsigned int i;

	if (mt_a->ma_flags != mt_b->ma_flags)
		return -1;
	for (;;) {
		struct tree_node *in_a, *in_b;

		mas_dfs_preorder(&a);
		mas_dfs_preorder(&b);
		if (status_of(&a) != ma_active || status_of(&b) != ma_active)
			return status_of(&a) != status_of(&b) || (!root_is_node(mt_a->ma_root) && mt_a->ma_root != mt_b->ma_root);
		in_a = (struct tree_node *)a.node;
		in_b = (struct tree_node *)b.node;
		if (in_a == in_b || in_a->kind != in_b->kind || in_a->count != in_b->count || a.max != b.max)
			return -1;
		for (i = 0; i < in_a->count; i++) {
			if (slot_last(in_a, i, a.max) != slot_last(in_b, i, b.max))
				return -1;
			if (in_a->kind == MAPLE_LEAF && slots_of(in_a)[i] != slots_of(in_b)[i])
				return -1;
			if (in_a->kind == MAPLE_GAPS && in_a->gaps.gap[i] != in_b->gaps.gap[i])
				return -1;
		}
	}
}

/* The test's own module takes another way outside of the kernel: that which counts allocations that must not wait. */
#undef __KERNEL__
#endif
