// SPDX-License-Identifier: MIT OR Apache-2.0
// The maple tree for writers: stores that wait for memory, and whole trees.
#include "maple.h"
#include <linux/sched.h>

/* What is not waited for again is freed, unless the user asked for it before. */
static void tidy(struct ma_state *mas)
{
	if (!mas->mas_flags)
		mas_destroy(mas);
}

static int store(struct ma_state *mas, void *entry, gfp_t gfp)
{
	unsigned long index = mas->index, last = mas->last;
	int error;

	do {
		mas->index = index;
		mas->last = last;
		error = kapi_mas_write(mas, entry);
		if (error)
			fail(mas, error);
	} while (error && mas_nomem(mas, gfp));
	tidy(mas);
	return error;
}

void *mas_store(struct ma_state *mas, void *entry)
{
	MA_STATE(old, mas->tree, mas->index, mas->index);
	void *before;
	int error;

	if (WARN_ON(mas->index > mas->last)) {
		fail(mas, -EINVAL);
		return NULL;
	}
	before = mas_walk(&old);
	error = kapi_mas_write(mas, entry);
	if (error)
		fail(mas, error);
	else
		tidy(mas);
	return before;
}

int mas_store_gfp(struct ma_state *mas, void *entry, gfp_t gfp)
{
	if (WARN_ON(mas->index > mas->last))
		return -EINVAL;
	return store(mas, entry, gfp);
}

int mas_preallocate(struct ma_state *mas, void *entry, gfp_t gfp)
{
	int error = kapi_mas_reserve(mas, kapi_mas_wants(mas, entry), gfp);

	mas->mas_flags = !error;
	if (error)
		mas_destroy(mas);
	return error;
}

void mas_store_prealloc(struct ma_state *mas, void *entry)
{
	int error = kapi_mas_write(mas, entry);

	WARN(error, "mas_store_prealloc() of what mas_preallocate() was not asked for\n");
	mas_destroy(mas);
}

/* Ranges with gaps between, in leaves and nodes that are half full. */
int mas_expected_entries(struct ma_state *mas, unsigned long nr_entries)
{
	unsigned long level = DIV_ROUND_UP(2 * nr_entries, MAPLE_SLOTS_MAX / 2), wanted = level + MAPLE_HEIGHT_MAX;
	int error;

	while (level > 1) {
		level = DIV_ROUND_UP(level, MAPLE_ARANGE64_SLOTS / 2);
		wanted += level;
	}
	error = kapi_mas_reserve(mas, wanted, GFP_KERNEL);
	mas->mas_flags = !error;
	if (error)
		mas_destroy(mas);
	return error;
}

void *mas_erase(struct ma_state *mas)
{
	void *entry = mas_walk(mas);
	unsigned long index = mas->index, last = mas->last;

	if (!entry)
		return NULL;
	if (store(mas, NULL, GFP_KERNEL))
		return NULL;
	mas->index = index;
	mas->last = last;
	return entry;
}

int mtree_store_range(struct maple_tree *mt, unsigned long first, unsigned long last, void *entry, gfp_t gfp)
{
	MA_STATE(mas, mt, first, last);
	int error;

	kapi_may_alloc(gfp);
	if (WARN_ON_ONCE(xa_is_advanced(entry)) || first > last)
		return -EINVAL;
	mtree_lock(mt);
	error = store(&mas, entry, gfp);
	mtree_unlock(mt);
	return error;
}

int mtree_store(struct maple_tree *mt, unsigned long index, void *entry, gfp_t gfp)
{
	kapi_may_alloc(gfp);
	return mtree_store_range(mt, index, index, entry, gfp);
}

int mtree_insert_range(struct maple_tree *mt, unsigned long first, unsigned long last, void *entry, gfp_t gfp)
{
	MA_STATE(mas, mt, first, last);
	int error;

	kapi_may_alloc(gfp);
	if (WARN_ON_ONCE(xa_is_advanced(entry)) || first > last)
		return -EINVAL;
	mtree_lock(mt);
	do {
		error = kapi_mas_seek(&mas, first) || mas.last < last ? -EEXIST : 0;
		mas_set_range(&mas, first, last);
		if (error)
			break;
		error = kapi_mas_write(&mas, entry);
		if (error)
			fail(&mas, error);
	} while (error && mas_nomem(&mas, gfp));
	mtree_unlock(mt);
	mas_destroy(&mas);
	return error;
}

int mtree_insert(struct maple_tree *mt, unsigned long index, void *entry, gfp_t gfp)
{
	kapi_may_alloc(gfp);
	return mtree_insert_range(mt, index, index, entry, gfp);
}

void *mtree_erase(struct maple_tree *mt, unsigned long index)
{
	MA_STATE(mas, mt, index, index);
	void *entry;

	mtree_lock(mt);
	entry = mas_erase(&mas);
	mtree_unlock(mt);
	return entry;
}

void __mt_destroy(struct maple_tree *mt)
{
	void *root = mt->ma_root;

	rcu_assign_pointer(mt->ma_root, NULL);
	mt->ma_flags &= ~MT_FLAGS_HEIGHT_MASK;
	if (root_is_node(root))
		kapi_maple_free_all(root_node(root), mt_in_rcu(mt));
}

void mtree_destroy(struct maple_tree *mt)
{
	mtree_lock(mt);
	__mt_destroy(mt);
	mtree_unlock(mt);
}

/* A copy of a node and of all below. */
static struct tree_node *copy_of(struct tree_node *node, gfp_t gfp)
{
	struct tree_node *copy = kapi_maple_alloc(gfp);
	unsigned int count = 0;

	if (!copy)
		return NULL;
	*copy = *node;
	for (; node->kind != MAPLE_LEAF && count < node->count; count++) {
		slots_of(copy)[count] = copy_of(slots_of(node)[count], gfp);
		if (slots_of(copy)[count])
			continue;
		/* Those that there are go. */
		while (count)
			kapi_maple_free_all(slots_of(copy)[--count], false);
		kapi_maple_free(copy, false);
		return NULL;
	}
	return copy;
}

int __mt_dup(struct maple_tree *mt, struct maple_tree *new, gfp_t gfp)
{
	void *root = mt->ma_root;

	if (((mt->ma_flags ^ new->ma_flags) & ~MT_FLAGS_HEIGHT_MASK) || !mtree_empty(new))
		return -EINVAL;
	if (root_is_node(root)) {
		struct tree_node *copy = copy_of(root_node(root), gfp);

		if (!copy)
			return -ENOMEM;
		root = root_of(copy);
	}
	new->ma_flags = mt->ma_flags;
	rcu_assign_pointer(new->ma_root, root);
	return 0;
}

int mtree_dup(struct maple_tree *mt, struct maple_tree *new, gfp_t gfp)
{
	int error;

	mtree_lock(new);
	mtree_lock_nested(mt, SINGLE_DEPTH_NESTING);
	error = __mt_dup(mt, new, gfp);
	mtree_unlock(mt);
	mtree_unlock(new);
	return error;
}
