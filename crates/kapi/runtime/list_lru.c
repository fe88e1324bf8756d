// SPDX-License-Identifier: MIT OR Apache-2.0
// Lists of objects by how long ago they were used.
#include "host.h"
#include <linux/kernel.h>
#include <linux/list_lru.h>
#include <linux/slab.h>

int list_lru_init(struct list_lru *lru)
{
	lru->node = kapi_kmalloc_for(sizeof(*lru->node), GFP_KERNEL | __GFP_ZERO, _RET_IP_);
	if (!lru->node)
		return -ENOMEM;
	INIT_LIST_HEAD(&lru->node->list);
	spin_lock_init(&lru->node->lock);
	return 0;
}

void list_lru_destroy(struct list_lru *lru)
{
	/* May be called twice, and of one whose init failed. */
	kapi_kfree_for(lru->node, _RET_IP_);
	lru->node = NULL;
}

bool list_lru_add_obj(struct list_lru *lru, struct list_head *item)
{
	struct list_lru_one *list = lru->node;
	bool added;

	spin_lock(&list->lock);
	added = list_empty(item);
	if (added) {
		list_add_tail(item, &list->list);
		list->nr_items++;
	}
	spin_unlock(&list->lock);
	return added;
}

bool list_lru_del_obj(struct list_lru *lru, struct list_head *item)
{
	struct list_lru_one *list = lru->node;
	bool removed;

	spin_lock(&list->lock);
	removed = !list_empty(item);
	if (removed)
		list_lru_isolate(list, item);
	spin_unlock(&list->lock);
	return removed;
}

unsigned long list_lru_count(struct list_lru *lru)
{
	long count = READ_ONCE(lru->node->nr_items);

	return count > 0 ? (unsigned long)count : 0;
}

void list_lru_isolate(struct list_lru_one *list, struct list_head *item)
{
	list_del_init(item);
	list->nr_items--;
}

void list_lru_isolate_move(struct list_lru_one *list, struct list_head *item, struct list_head *head)
{
	list_move(item, head);
	list->nr_items--;
}

static enum lru_status call(struct list_lru_one *list, struct list_head *item, list_lru_walk_cb isolate, void *cb_arg)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 13, 0)
	enum lru_status status = isolate(item, list, cb_arg);

	if (status == LRU_REMOVED_RETRY || status == LRU_RETRY)
		spin_lock(&list->lock);
	return status;
#else
	return isolate(item, list, &list->lock, cb_arg);
#endif
}

/* Under the lock. */
static unsigned long walk(struct list_lru_one *list, list_lru_walk_cb isolate, void *cb_arg, unsigned long *nr)
{
	struct list_head *item = list->list.next, *next;
	unsigned long removed = 0;

	for (; item != &list->list && *nr; item = next) {
		enum lru_status status;

		next = item->next;
		--*nr;
		status = call(list, item, isolate, cb_arg);
		removed += status == LRU_REMOVED || status == LRU_REMOVED_RETRY;
		if (status == LRU_STOP)
			break;
		if (status == LRU_ROTATE)
			list_move_tail(item, &list->list);
		/* Who had the lock meanwhile may have moved anything. */
		if (status == LRU_REMOVED_RETRY || status == LRU_RETRY)
			next = list->list.next;
	}
	return removed;
}

unsigned long list_lru_walk_node(struct list_lru *lru, int nid, list_lru_walk_cb isolate, void *cb_arg,
				 unsigned long *nr)
{
	unsigned long removed;

	spin_lock(&lru->node->lock);
	removed = walk(lru->node, isolate, cb_arg, nr);
	spin_unlock(&lru->node->lock);
	return removed;
}

unsigned long kapi_list_lru_walk_irq(struct list_lru *lru, list_lru_walk_cb isolate, void *cb_arg, unsigned long *nr)
{
	unsigned long removed;

	spin_lock_irq(&lru->node->lock);
	removed = walk(lru->node, isolate, cb_arg, nr);
	spin_unlock_irq(&lru->node->lock);
	return removed;
}
