// SPDX-License-Identifier: MIT OR Apache-2.0
// Places in a linear array by priority. An item that comes or goes moves one item of each later priority, from one end of
// its run to the other.
#include "host.h"
#include <linux/bug.h>
#include <linux/err.h>
#include <linux/parman.h>
#include <linux/slab.h>

struct parman {
	const struct parman_ops *ops;
	void *priv;
	unsigned long limit, count;
	struct list_head prios;
};

struct parman *parman_create(const struct parman_ops *ops, void *priv)
{
	struct parman *parman = kzalloc(sizeof(*parman), GFP_KERNEL);

	if (!parman)
		return NULL;
	INIT_LIST_HEAD(&parman->prios);
	parman->ops = ops;
	parman->priv = priv;
	parman->limit = ops->base_count;
	return parman;
}

void parman_destroy(struct parman *parman)
{
	WARN_ON(!list_empty(&parman->prios));
	kfree(parman);
}

void parman_prio_init(struct parman *parman, struct parman_prio *prio, unsigned long priority)
{
	struct parman_prio *later;

	INIT_LIST_HEAD(&prio->item_list);
	prio->priority = priority;
	list_for_each_entry(later, &parman->prios, list)
		if (later->priority > priority)
			break;
	list_add_tail(&prio->list, &later->list);
}

void parman_prio_fini(struct parman_prio *prio)
{
	WARN_ON(!list_empty(&prio->item_list));
	list_del(&prio->list);
}

static struct parman_item *first_of(struct parman_prio *prio)
{
	return list_first_entry(&prio->item_list, struct parman_item, list);
}

static struct parman_item *last_of(struct parman_prio *prio)
{
	return list_last_entry(&prio->item_list, struct parman_item, list);
}

static void move_to(struct parman *parman, struct parman_item *item, unsigned long index)
{
	if (item->index == index)
		return;
	parman->ops->move(parman->priv, item->index, index, 1);
	item->index = index;
}

int parman_item_add(struct parman *parman, struct parman_prio *prio, struct parman_item *item)
{
	struct parman_prio *later;
	unsigned long hole = parman->count;
	int error;

	if (parman->count == parman->limit) {
		error = parman->ops->resize(parman->priv, parman->limit + parman->ops->resize_step);
		if (error)
			return error;
		parman->limit += parman->ops->resize_step;
	}
	/* The hole goes from the array's end down to this priority's. */
	list_for_each_entry_reverse(later, &parman->prios, list) {
		struct parman_item *first;
		unsigned long from;

		if (later == prio)
			break;
		if (list_empty(&later->item_list))
			continue;
		first = first_of(later);
		from = first->index;
		move_to(parman, first, hole);
		list_move_tail(&first->list, &later->item_list);
		hole = from;
	}
	item->index = hole;
	list_add_tail(&item->list, &prio->item_list);
	parman->count++;
	return 0;
}

void parman_item_remove(struct parman *parman, struct parman_prio *prio, struct parman_item *item)
{
	struct parman_prio *at = prio;
	unsigned long hole = item->index;
	struct parman_item *last = last_of(prio);

	if (last != item) {
		unsigned long from = last->index;

		move_to(parman, last, hole);
		/* It takes the place of the item also in the order of the list. */
		list_move(&last->list, &item->list);
		hole = from;
	}
	list_del(&item->list);
	list_for_each_entry_continue(at, &parman->prios, list) {
		unsigned long from;

		if (list_empty(&at->item_list))
			continue;
		last = last_of(at);
		from = last->index;
		move_to(parman, last, hole);
		list_move(&last->list, &at->item_list);
		hole = from;
	}
	parman->count--;
	/* Less room is no need, so that an owner that cannot shrink keeps what it has. */
	if (parman->limit - parman->count >= parman->ops->resize_step && parman->limit > parman->ops->base_count &&
	    !parman->ops->resize(parman->priv, parman->limit - parman->ops->resize_step))
		parman->limit -= parman->ops->resize_step;
}
