/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The radix tree: the array's older interface, under its older names.
 *
 * Linux counterpart: include/linux/radix-tree.h @ 6.1. As there, a tree is an xarray and takes no lock:
 * its user keeps writers apart.
 *
 * Differences from Linux: nodes are not shown, and a slot is good only until the tree changes, since an
 * entry may move to another node. An iteration shows a copy of each entry. Preloading does nothing, since
 * an allocation that must not block does not fail for the want of it.
 */
#ifndef _LINUX_RADIX_TREE_H
#define _LINUX_RADIX_TREE_H

#include <linux/errno.h>
#include <linux/xarray.h>

#define radix_tree_root xarray

#define RADIX_TREE_ENTRY_MASK 3UL
#define RADIX_TREE_INTERNAL_NODE 2UL
#define RADIX_TREE_MAP_SHIFT XA_CHUNK_SHIFT
#define RADIX_TREE_MAP_SIZE (1UL << RADIX_TREE_MAP_SHIFT)
#define RADIX_TREE_MAP_MASK (RADIX_TREE_MAP_SIZE - 1)
#define RADIX_TREE_MAX_TAGS XA_MAX_MARKS

/* The tree's own gfp flags, which stand above those of the array. */
#define __RADIX_TREE_GFP(root) ((root)->xa_flags & __GFP_BITS_MASK & ~(gfp_t)0x3f)

#define RADIX_TREE_INIT(name, mask) XARRAY_INIT(name, mask)
#define RADIX_TREE(name, mask) struct radix_tree_root name = RADIX_TREE_INIT(name, mask)
#define INIT_RADIX_TREE(root, mask) xa_init_flags(root, mask)

static inline void radix_tree_init(void) { }
static inline int radix_tree_preload(gfp_t gfp) { return 0; }
static inline int radix_tree_maybe_preload(gfp_t gfp) { return 0; }
static inline void radix_tree_preload_end(void) { }

static inline bool radix_tree_is_internal_node(const void *entry)
{
	return ((unsigned long)entry & RADIX_TREE_ENTRY_MASK) == RADIX_TREE_INTERNAL_NODE;
}

static inline int radix_tree_exception(const void *entry)
{
	return unlikely((unsigned long)entry & RADIX_TREE_ENTRY_MASK);
}

static inline int radix_tree_deref_retry(const void *entry) { return unlikely(radix_tree_is_internal_node(entry)); }
static inline bool radix_tree_empty(const struct radix_tree_root *root) { return xa_empty(root); }

/* Return: 0, -EEXIST or -ENOMEM. */
static inline int radix_tree_insert(struct radix_tree_root *root, unsigned long index, void *item)
{
	int error = __xa_insert(root, index, item, __RADIX_TREE_GFP(root));

	return error == -EBUSY ? -EEXIST : error;
}

static inline void *radix_tree_lookup(const struct radix_tree_root *root, unsigned long index)
{
	return xa_load((struct xarray *)root, index);
}

static inline void *radix_tree_delete(struct radix_tree_root *root, unsigned long index)
{
	return __xa_erase(root, index);
}

/* Deletes an entry if it is @item, or whatever it is if that is NULL. Return: what was deleted. */
static inline void *radix_tree_delete_item(struct radix_tree_root *root, unsigned long index, void *item)
{
	if (item && xa_load(root, index) != item)
		return NULL;
	return __xa_erase(root, index);
}

/* Tags are marks. Setting and clearing return the entry. */
static inline void *radix_tree_tag_set(struct radix_tree_root *root, unsigned long index, unsigned int tag)
{
	__xa_set_mark(root, index, tag);
	return xa_load(root, index);
}

static inline void *radix_tree_tag_clear(struct radix_tree_root *root, unsigned long index, unsigned int tag)
{
	__xa_clear_mark(root, index, tag);
	return xa_load(root, index);
}

static inline int radix_tree_tag_get(const struct radix_tree_root *root, unsigned long index, unsigned int tag)
{
	return xa_get_mark((struct xarray *)root, index, tag);
}

static inline int radix_tree_tagged(const struct radix_tree_root *root, unsigned int tag)
{
	return xa_marked(root, tag);
}

/* Copies up to @max entries from @first on. Return: how many. */
static inline unsigned int radix_tree_gang_lookup(const struct radix_tree_root *root, void **results,
						  unsigned long first, unsigned int max)
{
	return xa_extract((struct xarray *)root, results, first, ULONG_MAX, max, XA_PRESENT);
}

static inline unsigned int radix_tree_gang_lookup_tag(const struct radix_tree_root *root, void **results,
						      unsigned long first, unsigned int max, unsigned int tag)
{
	return xa_extract((struct xarray *)root, results, first, ULONG_MAX, max, tag);
}

/* Slots: places of entries, good until the tree changes. */
void **slablab_xa_slot(const struct xarray *xa, unsigned long index);

static inline void __rcu **radix_tree_lookup_slot(const struct radix_tree_root *root, unsigned long index)
{
	return slablab_xa_slot(root, index);
}

static inline unsigned int radix_tree_gang_lookup_tag_slot(const struct radix_tree_root *root, void ***results,
							   unsigned long first, unsigned int max, unsigned int tag)
{
	struct xarray *xa = (struct xarray *)root;
	unsigned int count = 0;
	void *entry;

	for (entry = xa_find(xa, &first, ULONG_MAX, tag); entry && count < max;
	     entry = xa_find_after(xa, &first, ULONG_MAX, tag))
		results[count++] = slablab_xa_slot(root, first);
	return count;
}

static inline void *radix_tree_deref_slot(void __rcu **slot) { return rcu_dereference(*slot); }
static inline void *radix_tree_deref_slot_protected(void __rcu **slot, spinlock_t *lock) { return READ_ONCE(*slot); }

/* Replaces one entry by another; neither is NULL. */
static inline void radix_tree_replace_slot(struct radix_tree_root *root, void __rcu **slot, void *item)
{
	if (!WARN_ON(!item || !*slot))
		rcu_assign_pointer(*slot, item);
}

/* An iteration's place, and the entry there. */
struct radix_tree_iter {
	unsigned long index;
	unsigned long next_index;
	/* private: */
	struct xarray *root;
	void *entry;
	xa_mark_t filter;
	bool ended;
};

static inline void __rcu **__radix_tree_iter_next(struct radix_tree_iter *iter)
{
	iter->index = iter->next_index;
	iter->entry = iter->ended ? NULL : xa_find(iter->root, &iter->index, ULONG_MAX, iter->filter);
	iter->next_index = iter->index + 1;
	iter->ended = !iter->entry || !iter->next_index;
	return iter->entry ? &iter->entry : NULL;
}

static inline void __rcu **__radix_tree_iter_start(struct radix_tree_iter *iter, const struct radix_tree_root *root,
						   unsigned long start, xa_mark_t filter)
{
	iter->root = (struct xarray *)root;
	iter->next_index = start;
	iter->filter = filter;
	iter->ended = false;
	return __radix_tree_iter_next(iter);
}

#define radix_tree_for_each_slot(slot, root, iter, start)		\
	for (slot = __radix_tree_iter_start(iter, root, start, XA_PRESENT); slot; \
	     slot = __radix_tree_iter_next(iter))
#define radix_tree_for_each_tagged(slot, root, iter, start, tag)	\
	for (slot = __radix_tree_iter_start(iter, root, start, tag); slot; \
	     slot = __radix_tree_iter_next(iter))

/* The next step comes to the same entry again. */
static inline __must_check void __rcu **radix_tree_iter_retry(struct radix_tree_iter *iter)
{
	iter->next_index = iter->index;
	iter->ended = false;
	return NULL;
}

/* The lock may be dropped until the next step. */
static inline __must_check void __rcu **radix_tree_iter_resume(void __rcu **slot, struct radix_tree_iter *iter)
{
	return NULL;
}

static inline void radix_tree_iter_replace(struct radix_tree_root *root, const struct radix_tree_iter *iter,
					   void __rcu **slot, void *item)
{
	__xa_store(root, iter->index, item, __RADIX_TREE_GFP(root));
}

static inline void radix_tree_iter_delete(struct radix_tree_root *root, struct radix_tree_iter *iter, void __rcu **slot)
{
	__xa_erase(root, iter->index);
}

static inline void radix_tree_iter_tag_set(struct radix_tree_root *root, const struct radix_tree_iter *iter,
					   unsigned int tag)
{
	__xa_set_mark(root, iter->index, tag);
}

static inline void radix_tree_iter_tag_clear(struct radix_tree_root *root, const struct radix_tree_iter *iter,
					     unsigned int tag)
{
	__xa_clear_mark(root, iter->index, tag);
}

#endif
