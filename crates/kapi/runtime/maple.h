/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * What the files of the maple tree share: the words of a node, ways from the root to a leaf, and how a state stands.
 *
 * A node's 32 words: what it is; the last index of each slot but of the last one, which is the node's own; the slots;
 * in a node that knows gaps, the largest gap below each slot. A node has at least one slot.
 */
#ifndef _MAPLE_H
#define _MAPLE_H

#include "host.h"
#include <linux/kernel.h>
#include <linux/maple_tree.h>
#include <linux/slab.h>

/* A leaf, a node above, and one that knows gaps. */
enum maple_kind {
	MAPLE_LEAF,
	MAPLE_INNER,
	MAPLE_GAPS
};

#define MAPLE_SLOTS_MAX MAPLE_RANGE64_SLOTS

struct tree_node {
	u8 kind;
	u8 count;
	/* Out of the tree: who stands in it looks again. */
	u8 dead;
	union {
		struct {
			unsigned long last[MAPLE_RANGE64_SLOTS - 1];
			void *slot[MAPLE_RANGE64_SLOTS];
		} wide;
		struct {
			unsigned long last[MAPLE_ARANGE64_SLOTS - 1];
			void *slot[MAPLE_ARANGE64_SLOTS];
			unsigned long gap[MAPLE_ARANGE64_SLOTS];
		} gaps;
	};
};

_Static_assert(sizeof(struct tree_node) == 256 && sizeof(struct maple_node) == 256, "a node has 256 bytes");

static inline unsigned int capacity_of(enum maple_kind kind)
{
	return kind == MAPLE_GAPS ? MAPLE_ARANGE64_SLOTS : MAPLE_RANGE64_SLOTS;
}

static inline void **slots_of(struct tree_node *node)
{
	return node->kind == MAPLE_GAPS ? node->gaps.slot : node->wide.slot;
}

static inline void *slot_at(struct tree_node *node, unsigned int at) { return rcu_dereference(slots_of(node)[at]); }

/* The last index of a slot, in a node that ends at @max. */
static inline unsigned long slot_last(struct tree_node *node, unsigned int at, unsigned long max)
{
	return at + 1 < node->count ? node->wide.last[at] : max;
}

static inline unsigned long slot_first(struct tree_node *node, unsigned int at, unsigned long min)
{
	return at ? node->wide.last[at - 1] + 1 : min;
}

/* The slot in which an index of the node lies. */
static inline unsigned int slot_of(struct tree_node *node, unsigned long index)
{
	unsigned int at = 0;

	while (at + 1 < node->count && node->wide.last[at] < index)
		at++;
	return at;
}

/* The root: nothing, an entry at index 0, or a node. */
static inline bool root_is_node(const void *root) { return xa_is_internal(root) && (unsigned long)root > MAPLE_RESERVED_RANGE; }
static inline struct tree_node *root_node(const void *root) { return (struct tree_node *)((unsigned long)root - 2); }
static inline void *root_of(const struct tree_node *node) { return (void *)((unsigned long)node + 2); }

/* How a state stands. Up to 6.7 its node says so. */
#if __KAPI_MAS_HAS_STATUS
static inline enum maple_status status_of(const struct ma_state *mas) { return mas->status; }

static inline void stand(struct ma_state *mas, enum maple_status status, const void *node)
{
	mas->status = status;
	mas->node = (struct maple_enode *)node;
}
#else
static inline enum maple_status status_of(const struct ma_state *mas)
{
	if (mas->node == MAS_START)
		return ma_start;
	if (mas->node == MAS_ROOT)
		return ma_root;
	if (mas->node == MAS_NONE)
		return ma_none;
	if (mas->node == MAS_PAUSE)
		return ma_pause;
	if (mas->node == MAS_OVERFLOW)
		return ma_overflow;
	if (mas->node == MAS_UNDERFLOW)
		return ma_underflow;
	return xa_is_err(mas->node) ? ma_error : ma_active;
}

static inline void stand(struct ma_state *mas, enum maple_status status, const void *node)
{
	struct maple_enode *const marks[] = {
		[ma_start] = MAS_START,
		[ma_root] = MAS_ROOT,
		[ma_none] = MAS_NONE,
		[ma_pause] = MAS_PAUSE,
		[ma_overflow] = MAS_OVERFLOW,
		[ma_underflow] = MAS_UNDERFLOW,
	};

	mas->node = status == ma_active || status == ma_error ? (struct maple_enode *)node : marks[status];
}
#endif

/* Entries that the normal interface does not take. */
static inline bool kapi_is_reserved(const void *entry)
{
	return xa_is_internal(entry) && (unsigned long)entry < MAPLE_RESERVED_RANGE;
}

/* The caller says by @gfp that it may sleep. */
#define kapi_may_alloc(gfp) do { \
	if ((gfp) & __GFP_DIRECT_RECLAIM) \
		might_sleep(); \
} while (0)

static inline void fail(struct ma_state *mas, int error) { stand(mas, ma_error, MA_ERROR(error)); }

/* Takes the state to the range in which @index lies. Return: the entry there. */
extern void *kapi_mas_seek(struct ma_state *mas, unsigned long index);

/*
 * Nodes. A reserve is the state's: it is filled before a change, which then cannot fail. What the user asked for before
 * (mas_flags) stays until mas_destroy(), and what such a change frees goes there.
 */
extern int kapi_mas_reserve(struct ma_state *mas, unsigned long count, gfp_t gfp);
extern struct tree_node *kapi_mas_take(struct ma_state *mas);
extern void kapi_mas_give(struct ma_state *mas, struct tree_node *node);
extern struct tree_node *kapi_maple_alloc(gfp_t gfp);
/* Frees a node, or one and all below it, that is out of the tree: after a grace period if there may be readers. */
extern void kapi_maple_free(struct tree_node *node, bool rcu);
extern void kapi_maple_free_all(struct tree_node *node, bool rcu);

/* Stores an entry at the state's range without waiting for memory. Return: 0, or -ENOMEM, and node_request are wanted. */
extern int kapi_mas_write(struct ma_state *mas, void *entry);
/* How many nodes that would need. */
extern int kapi_mas_wants(struct ma_state *mas, void *entry);

#endif
