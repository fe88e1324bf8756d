/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Places in a linear array, by priority: items of a lower number lie before those of a higher one, without gaps. The owner
 * moves its entries when it is told to.
 *
 * Linux counterpart: include/linux/parman.h @ 6.12.
 */
#ifndef _LINUX_PARMAN_H
#define _LINUX_PARMAN_H

#include <linux/list.h>

enum parman_algo_type {
	PARMAN_ALGO_TYPE_LSORT
};

struct parman_item {
	struct list_head list;
	unsigned long index;
};

struct parman_prio {
	struct list_head list;
	struct list_head item_list;
	unsigned long priority;
};

struct parman_ops {
	unsigned long base_count;
	unsigned long resize_step;
	int (*resize)(void *priv, unsigned long new_count);
	void (*move)(void *priv, unsigned long from_index, unsigned long to_index, unsigned long count);
	enum parman_algo_type algo;
};

struct parman;

extern struct parman *parman_create(const struct parman_ops *ops, void *priv);
extern void parman_destroy(struct parman *parman);
extern void parman_prio_init(struct parman *parman, struct parman_prio *prio, unsigned long priority);
extern void parman_prio_fini(struct parman_prio *prio);
extern int parman_item_add(struct parman *parman, struct parman_prio *prio, struct parman_item *item);
extern void parman_item_remove(struct parman *parman, struct parman_prio *prio, struct parman_item *item);

#endif
