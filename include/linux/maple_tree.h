/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The maple tree: ranges of unsigned long to pointers, for readers without a lock.
 *
 * How it works: a B-tree of ranges that cover 0..ULONG_MAX without a hole. A node has 256 bytes and is an object of the
 * cache maple_node. A leaf has up to 16 ranges, each with its last index and its entry; a range of NULL is one range,
 * never two side by side. A node above has up to 16 children, or, in a tree of MT_FLAGS_ALLOC_RANGE, up to 10, each
 * with the size of the largest gap below. An entry that is alone, at index 0, stands in ma_root.
 *
 * A change makes new nodes beside the old ones and becomes visible by one store: of the slot above them, or of the
 * root. In a tree of MT_FLAGS_USE_RCU the old nodes stay as they are for a grace period; else a node is changed in
 * place where one takes the place of one, and the others are freed at once. So readers without the lock need the flag.
 *
 * Linux counterpart: include/linux/maple_tree.h @ 6.1, 6.12 and 7.3, with Documentation/core-api/maple_tree.rst, from
 * which this is written. Differences from Linux: what is inside a node; a state keeps the leaf that it stands in, and
 * goes down from the root to leave it; mas_expected_entries() is a reserve of nodes and no mode of inserting.
 */
#ifndef _LINUX_MAPLE_TREE_H
#define _LINUX_MAPLE_TREE_H

#include <linux/atomic.h>
#include <linux/bug.h>
#include <linux/kernel.h>
#include <linux/rcupdate.h>
#include <linux/spinlock.h>
#include <linux/string.h>
#include <linux/version.h>
#include <linux/xarray.h>
#include <kapi/bytes.h>

#define MAPLE_NODE_SLOTS 31
#define MAPLE_RANGE64_SLOTS 16
#define MAPLE_ARANGE64_SLOTS 10
#define MAPLE_NODE_MASK 255UL
#define MAPLE_HEIGHT_MAX 31
#define MAPLE_RESERVED_RANGE 4096

#define MT_FLAGS_ALLOC_RANGE 0x01
#define MT_FLAGS_USE_RCU 0x02
#define MT_FLAGS_HEIGHT_OFFSET 0x02
#define MT_FLAGS_HEIGHT_MASK 0x7C
#define MT_FLAGS_LOCK_MASK 0x300
#define MT_FLAGS_LOCK_IRQ 0x100
#define MT_FLAGS_LOCK_BH 0x200
#define MT_FLAGS_LOCK_EXTERN 0x300
#define MT_FLAGS_ALLOC_WRAPPED 0x0800

/* Locks of the user's are not known here. */
#define mt_lock_is_held(mt) 1
#define mt_write_lock_is_held(mt) 1
#define mt_set_external_lock(mt, lock) do { } while (0)
#define mt_on_stack(mt) do { } while (0)

struct maple_tree {
	spinlock_t ma_lock;
	unsigned int ma_flags;
	void __rcu *ma_root;
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 12, 0)
	unsigned long __kapi_rest;
#endif
};
KAPI_IS_LARGE(struct maple_tree, KAPI_MAPLE_TREE_BYTES);

#define MTREE_INIT(name, __flags) {					\
	.ma_lock = __SPIN_LOCK_UNLOCKED((name).ma_lock),		\
	.ma_flags = (__flags),						\
	.ma_root = NULL,						\
}
#define MTREE_INIT_EXT(name, __flags, __lock) MTREE_INIT(name, __flags)
#define DEFINE_MTREE(name) struct maple_tree name = MTREE_INIT(name, 0)

#define mtree_lock(mt) spin_lock(&(mt)->ma_lock)
#define mtree_lock_nested(mt, subclass) spin_lock_nested(&(mt)->ma_lock, subclass)
#define mtree_unlock(mt) spin_unlock(&(mt)->ma_lock)

/* A node as old code sees it: 32 words. What they mean is said in the runtime's maple.h. */
struct maple_node {
	struct maple_pnode *parent;
	void __rcu *slot[MAPLE_NODE_SLOTS];
};

static inline bool mt_external_lock(const struct maple_tree *mt)
{
	return (mt->ma_flags & MT_FLAGS_LOCK_MASK) == MT_FLAGS_LOCK_EXTERN;
}

static inline void mt_init_flags(struct maple_tree *mt, unsigned int flags)
{
	mt->ma_flags = flags;
	if (!mt_external_lock(mt))
		spin_lock_init(&mt->ma_lock);
	rcu_assign_pointer(mt->ma_root, NULL);
}

static inline void mt_init(struct maple_tree *mt) { mt_init_flags(mt, 0); }
static inline bool mtree_empty(const struct maple_tree *mt) { return READ_ONCE(mt->ma_root) == NULL; }
static inline bool mt_in_rcu(struct maple_tree *mt) { return mt->ma_flags & MT_FLAGS_USE_RCU; }

/* Levels of nodes. */
static inline unsigned int mt_height(const struct maple_tree *mt)
{
	return (mt->ma_flags & MT_FLAGS_HEIGHT_MASK) >> MT_FLAGS_HEIGHT_OFFSET;
}

static inline void __kapi_mt_rcu(struct maple_tree *mt, unsigned int flag)
{
	bool own = !mt_external_lock(mt);

	if ((mt->ma_flags & MT_FLAGS_USE_RCU) == flag)
		return;
	if (own)
		mtree_lock(mt);
	mt->ma_flags = (mt->ma_flags & ~MT_FLAGS_USE_RCU) | flag;
	if (own)
		mtree_unlock(mt);
}

static inline void mt_set_in_rcu(struct maple_tree *mt) { __kapi_mt_rcu(mt, MT_FLAGS_USE_RCU); }
static inline void mt_clear_in_rcu(struct maple_tree *mt) { __kapi_mt_rcu(mt, 0); }

/* The normal interface: these take the lock, or a read-side section, themselves. */
void *mtree_load(struct maple_tree *mt, unsigned long index);
/* Where there is nothing yet. Return: 0, -EEXIST, -EINVAL or -ENOMEM. */
int mtree_insert(struct maple_tree *mt, unsigned long index, void *entry, gfp_t gfp);
int mtree_insert_range(struct maple_tree *mt, unsigned long first, unsigned long last, void *entry, gfp_t gfp);
int mtree_store(struct maple_tree *mt, unsigned long index, void *entry, gfp_t gfp);
int mtree_store_range(struct maple_tree *mt, unsigned long first, unsigned long last, void *entry, gfp_t gfp);
/* Erases the whole range in which @index lies. Return: its entry. */
void *mtree_erase(struct maple_tree *mt, unsigned long index);
/*
 * At the lowest gap, at the highest one, at the next one after *@next. Return: 0, -EBUSY, -EINVAL or -ENOMEM; 1 after
 * coming around.
 */
int mtree_alloc_range(struct maple_tree *mt, unsigned long *startp, void *entry, unsigned long size, unsigned long min,
		      unsigned long max, gfp_t gfp);
int mtree_alloc_rrange(struct maple_tree *mt, unsigned long *startp, void *entry, unsigned long size, unsigned long min,
		       unsigned long max, gfp_t gfp);
int mtree_alloc_cyclic(struct maple_tree *mt, unsigned long *startp, void *entry, unsigned long range_lo,
		       unsigned long range_hi, unsigned long *next, gfp_t gfp);
int mtree_dup(struct maple_tree *mt, struct maple_tree *new, gfp_t gfp);
int __mt_dup(struct maple_tree *mt, struct maple_tree *new, gfp_t gfp);
void mtree_destroy(struct maple_tree *mt);
void __mt_destroy(struct maple_tree *mt);
/* The first entry at *@index or above; *@index goes behind its range. Reserved entries are passed over. */
void *mt_find(struct maple_tree *mt, unsigned long *index, unsigned long max);
void *mt_find_after(struct maple_tree *mt, unsigned long *index, unsigned long max);
void *mt_prev(struct maple_tree *mt, unsigned long index, unsigned long min);
void *mt_next(struct maple_tree *mt, unsigned long index, unsigned long max);

#define mt_for_each(__tree, __entry, __index, __max)			\
	for (__entry = mt_find(__tree, &(__index), __max);		\
	     __entry; __entry = mt_find_after(__tree, &(__index), __max))

/*
 * The advanced interface: a state, whose user holds the lock to change the tree, and the lock or a read-side section to
 * look at it. Up to 6.7 the state's node says how it stands; since then it has a status.
 */
#define __KAPI_MAS_HAS_STATUS (LINUX_VERSION_CODE >= KERNEL_VERSION(6, 8, 0))

enum maple_status {
	ma_active,
	ma_start,
	ma_root,
	ma_none,
	ma_pause,
	ma_overflow,
	ma_underflow,
	ma_error,
};

struct ma_state {
	struct maple_tree *tree;
	unsigned long index;
	unsigned long last;
	struct maple_enode *node;
	/* private: the indices of the leaf in which it stands, and the place in it. */
	unsigned long min;
	unsigned long max;
	/* private: nodes that were allocated before they are needed, how many, and how many are wanted. */
	struct maple_node *alloc;
	unsigned long kapi_reserve;
	unsigned long node_request;
#if __KAPI_MAS_HAS_STATUS
	enum maple_status status;
#endif
	unsigned char depth;
	unsigned char offset;
	unsigned char mas_flags;
	unsigned char end;
};

#define MA_ERROR(err) ((struct maple_enode *)(((unsigned long)(err) << 2) | 2UL))

#if __KAPI_MAS_HAS_STATUS
#define __KAPI_MAS_AT_START .node = NULL, .status = ma_start

static inline bool mas_is_active(struct ma_state *mas) { return mas->status == ma_active; }
static inline bool mas_is_err(struct ma_state *mas) { return mas->status == ma_error; }

static inline void mas_reset(struct ma_state *mas)
{
	mas->status = ma_start;
	mas->node = NULL;
}
#else
#define MAS_START ((struct maple_enode *)1UL)
#define MAS_ROOT ((struct maple_enode *)5UL)
#define MAS_NONE ((struct maple_enode *)9UL)
#define MAS_PAUSE ((struct maple_enode *)17UL)
#define MAS_OVERFLOW ((struct maple_enode *)33UL)
#define MAS_UNDERFLOW ((struct maple_enode *)65UL)
#define __KAPI_MAS_AT_START .node = MAS_START

static inline bool mas_is_active(struct ma_state *mas) { return !((unsigned long)mas->node & 3); }
static inline bool mas_is_err(struct ma_state *mas) { return xa_is_err(mas->node); }
static inline bool mas_is_none(struct ma_state *mas) { return mas->node == MAS_NONE; }
static inline bool mas_is_paused(struct ma_state *mas) { return mas->node == MAS_PAUSE; }
static inline void mas_reset(struct ma_state *mas) { mas->node = MAS_START; }
#endif

#define MA_STATE(name, mt, first, end)					\
	struct ma_state name = {					\
		.tree = mt,						\
		.index = first,						\
		.last = end,						\
		.max = ULONG_MAX,					\
		__KAPI_MAS_AT_START,					\
	}

static inline void mas_init(struct ma_state *mas, struct maple_tree *tree, unsigned long addr)
{
	memset(mas, 0, sizeof(*mas));
	mas->tree = tree;
	mas->index = mas->last = addr;
	mas->max = ULONG_MAX;
	mas_reset(mas);
}

#define mas_lock(mas) spin_lock(&(mas)->tree->ma_lock)
#define mas_lock_irqsave(mas, flags) spin_lock_irqsave(&(mas)->tree->ma_lock, flags)
#define mas_lock_nested(mas, subclass) spin_lock_nested(&(mas)->tree->ma_lock, subclass)
#define mas_unlock(mas) spin_unlock(&(mas)->tree->ma_lock)
#define mas_unlock_irqrestore(mas, flags) spin_unlock_irqrestore(&(mas)->tree->ma_lock, flags)

/* The entry at the state's index, whose range the state takes. */
void *mas_walk(struct ma_state *mas);
/* Stores at the state's range. Return: what was at its beginning. No memory: mas_is_err(). */
void *mas_store(struct ma_state *mas, void *entry);
int mas_store_gfp(struct ma_state *mas, void *entry, gfp_t gfp);
int mas_preallocate(struct ma_state *mas, void *entry, gfp_t gfp);
void mas_store_prealloc(struct ma_state *mas, void *entry);
void *mas_erase(struct ma_state *mas);
/* The first entry at the state's index or above, then the next ones; _range: NULL too. _rev: downwards. */
void *mas_find(struct ma_state *mas, unsigned long max);
void *mas_find_range(struct ma_state *mas, unsigned long max);
void *mas_find_rev(struct ma_state *mas, unsigned long min);
void *mas_find_range_rev(struct ma_state *mas, unsigned long min);
/* The entry behind, or before, the range in which the state stands. */
void *mas_next(struct ma_state *mas, unsigned long max);
void *mas_next_range(struct ma_state *mas, unsigned long max);
void *mas_prev(struct ma_state *mas, unsigned long min);
void *mas_prev_range(struct ma_state *mas, unsigned long min);
/* A gap of @size indices, the lowest or the highest one. Return: 0, -EBUSY or -EINVAL. */
int mas_empty_area(struct ma_state *mas, unsigned long min, unsigned long max, unsigned long size);
int mas_empty_area_rev(struct ma_state *mas, unsigned long min, unsigned long max, unsigned long size);
int mas_alloc_cyclic(struct ma_state *mas, unsigned long *startp, void *entry, unsigned long range_lo,
		     unsigned long range_hi, unsigned long *next, gfp_t gfp);
/* Before the lock is given up: the next step begins behind the range. */
void mas_pause(struct ma_state *mas);
/* Returns whether to try again, after an operation that found no memory. */
bool mas_nomem(struct ma_state *mas, gfp_t gfp);
void mas_destroy(struct ma_state *mas);
int mas_expected_entries(struct ma_state *mas, unsigned long nr_entries);

static inline void maple_tree_init(void) { }

#define mas_for_each(__mas, __entry, __max) while (((__entry) = mas_find((__mas), (__max))) != NULL)
#define mas_for_each_rev(__mas, __entry, __min) while (((__entry) = mas_find_rev((__mas), (__min))) != NULL)

/* For tests: a tree is looked through, printed, and what holds of it counted. Up to 6.3 they expect that it is. */
extern atomic_t maple_tree_tests_run, maple_tree_tests_passed;
void mt_validate(struct maple_tree *mt);
void mas_dump(const struct ma_state *mas);
void mt_cache_shrink(void);
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 4, 0)
enum mt_dump_format {
	mt_dump_dec,
	mt_dump_hex,
};
void mt_dump(const struct maple_tree *mt, enum mt_dump_format format);
#else
void mt_dump(const struct maple_tree *mt);
#endif

#if defined(CONFIG_DEBUG_MAPLE_TREE) || LINUX_VERSION_CODE < KERNEL_VERSION(6, 4, 0)
#define MT_BUG_ON(__tree, __x) do {							\
	atomic_inc(&maple_tree_tests_run);						\
	if (__x) {									\
		pr_info("BUG at %s:%d (%s)\n", __func__, __LINE__, #__x);		\
		dump_stack();								\
	} else {									\
		atomic_inc(&maple_tree_tests_passed);					\
	}										\
} while (0)
#else
#define MT_BUG_ON(__tree, __x) BUG_ON(__x)
#endif
#define MAS_BUG_ON(__mas, __x) MT_BUG_ON((__mas)->tree, __x)
#define MAS_WR_BUG_ON(__mas, __x) MAS_BUG_ON(__mas, __x)
#define MT_WARN_ON(__tree, __x) WARN_ON(__x)
#define MAS_WARN_ON(__mas, __x) WARN_ON(__x)
#define MAS_WR_WARN_ON(__mas, __x) WARN_ON(__x)

/* A part of the range in which the state stands. */
static inline void __mas_set_range(struct ma_state *mas, unsigned long start, unsigned long last)
{
	MAS_WARN_ON(mas, mas_is_active(mas) && (mas->index > start || mas->last < start));
	mas->index = start;
	mas->last = last;
}

static inline void mas_set_range(struct ma_state *mas, unsigned long start, unsigned long last)
{
	mas_reset(mas);
	__mas_set_range(mas, start, last);
}

static inline void mas_set(struct ma_state *mas, unsigned long index) { mas_set_range(mas, index, index); }

#endif
