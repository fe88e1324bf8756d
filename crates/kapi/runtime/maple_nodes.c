// SPDX-License-Identifier: MIT OR Apache-2.0
// Nodes of the maple tree: their cache, the reserve of a state, and freeing them when no reader can stand in them.
#include "maple.h"
#include <linux/sched.h>

/* What Linux 7 asks for. */
#define SHEAF_CAPACITY (LINUX_VERSION_CODE >= KERNEL_VERSION(7, 0, 0) ? 32 : 0)

static struct kmem_cache *cache;

/* Made when the first node is asked for: most modules ask for none. */
static bool cache_is_there(void)
{
	static DEFINE_SPINLOCK(lock);
	unsigned long flags;

	if (likely(smp_load_acquire(&cache)))
		return true;
	spin_lock_irqsave(&lock, flags);
	if (!cache)
		smp_store_release(&cache, kapi_cache_create("maple_node", sizeof(struct tree_node), sizeof(struct tree_node),
							    KAPI_SLAB_STAYS, NULL, 0, -1, SHEAF_CAPACITY));
	spin_unlock_irqrestore(&lock, flags);
	return cache;
}

struct tree_node *kapi_maple_alloc(gfp_t gfp)
{
	return cache_is_there() ? kmem_cache_alloc(cache, gfp) : NULL;
}

void kapi_maple_free(struct tree_node *node, bool rcu)
{
	if (!rcu) {
		kmem_cache_free(cache, node);
		return;
	}
	__atomic_store_n(&node->dead, 1, __ATOMIC_RELEASE);
	kapi_cache_free_rcu(cache, node);
}

void kapi_maple_free_all(struct tree_node *node, bool rcu)
{
	unsigned int i;

	for (i = 0; node->kind != MAPLE_LEAF && i < node->count; i++)
		kapi_maple_free_all(slots_of(node)[i], rcu);
	kapi_maple_free(node, rcu);
}

void mt_cache_shrink(void)
{
	if (cache)
		kmem_cache_shrink(cache);
}

/* The reserve is a list by the first slot. */
void kapi_mas_give(struct ma_state *mas, struct tree_node *node)
{
	struct maple_node *given = (struct maple_node *)node;

	given->slot[0] = mas->alloc;
	mas->alloc = given;
	mas->kapi_reserve++;
}

struct tree_node *kapi_mas_take(struct ma_state *mas)
{
	struct maple_node *taken = mas->alloc;

	mas->alloc = taken->slot[0];
	mas->kapi_reserve--;
	return (struct tree_node *)taken;
}

int kapi_mas_reserve(struct ma_state *mas, unsigned long count, gfp_t gfp)
{
	struct tree_node *node;

	while (mas->kapi_reserve < count) {
		node = kapi_maple_alloc(gfp);
		if (!node)
			return -ENOMEM;
		kapi_mas_give(mas, node);
	}
	return 0;
}

void mas_destroy(struct ma_state *mas)
{
	while (mas->kapi_reserve)
		kapi_maple_free(kapi_mas_take(mas), false);
	mas->mas_flags = 0;
}

bool mas_nomem(struct ma_state *mas, gfp_t gfp)
{
	bool waits = gfpflags_allow_blocking(gfp) && !mt_external_lock(mas->tree);
	int error;

	if (!mas_is_err(mas) || mas->node != MA_ERROR(-ENOMEM)) {
		if (!mas->mas_flags)
			mas_destroy(mas);
		return false;
	}
	if (waits)
		mtree_unlock(mas->tree);
	error = kapi_mas_reserve(mas, mas->node_request, gfp);
	if (waits)
		mtree_lock(mas->tree);
	if (error)
		return false;
	mas_reset(mas);
	return true;
}
