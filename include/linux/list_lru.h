/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Lists of objects by how long ago they were used, for shrinkers. There is one node and no memory control group, so
 * that each has one list.
 *
 * list_lru_add(lru, item) since 6.8 has a node and a group behind them, and list_lru_add_obj() has not.
 */
#ifndef _LINUX_LIST_LRU_H
#define _LINUX_LIST_LRU_H

#include <linux/kconfig.h>
#include <linux/list.h>
#include <linux/shrinker.h>
#include <linux/spinlock.h>
#include <linux/version.h>
#include <kapi/bytes.h>

/* What a callback of a walk did with its item. */
enum lru_status {
	LRU_REMOVED,
	/* The lock was dropped meanwhile; so with LRU_RETRY. Up to 6.12 it is held again, since 6.13 it is not. */
	LRU_REMOVED_RETRY,
	LRU_ROTATE,
	LRU_SKIP,
	LRU_RETRY,
	LRU_STOP
};

struct list_lru_one {
	struct list_head list;
	long nr_items;
	spinlock_t lock;
};

struct list_lru {
	struct list_lru_one *node;
	void *kapi_rest[5];
};
KAPI_IS_LARGE(struct list_lru, KAPI_LIST_LRU_BYTES);

#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 13, 0)
typedef enum lru_status (*list_lru_walk_cb)(struct list_head *item, struct list_lru_one *list, void *cb_arg);
#else
typedef enum lru_status (*list_lru_walk_cb)(struct list_head *item, struct list_lru_one *list, spinlock_t *lock,
					    void *cb_arg);
#endif

extern int list_lru_init(struct list_lru *lru);
extern void list_lru_destroy(struct list_lru *lru);
#define list_lru_init_memcg(lru, shrinker) list_lru_init(lru)

extern bool list_lru_add_obj(struct list_lru *lru, struct list_head *item);
extern bool list_lru_del_obj(struct list_lru *lru, struct list_head *item);
#define list_lru_add(...) KAPI_BY_COUNT(__kapi_list_lru_add_, __VA_ARGS__)
#define __kapi_list_lru_add_2(lru, item) list_lru_add_obj(lru, item)
#define __kapi_list_lru_add_4(lru, item, nid, memcg) list_lru_add_obj(lru, item)
#define list_lru_del(...) KAPI_BY_COUNT(__kapi_list_lru_del_, __VA_ARGS__)
#define __kapi_list_lru_del_2(lru, item) list_lru_del_obj(lru, item)
#define __kapi_list_lru_del_4(lru, item, nid, memcg) list_lru_del_obj(lru, item)

extern unsigned long list_lru_count(struct list_lru *lru);
static inline unsigned long list_lru_count_node(struct list_lru *lru, int nid) { return list_lru_count(lru); }
static inline unsigned long list_lru_count_one(struct list_lru *lru, int nid, struct mem_cgroup *memcg)
{
	return list_lru_count(lru);
}
static inline unsigned long list_lru_shrink_count(struct list_lru *lru, struct shrink_control *sc)
{
	return list_lru_count(lru);
}

/* For callbacks, under the list's lock. */
extern void list_lru_isolate(struct list_lru_one *list, struct list_head *item);
extern void list_lru_isolate_move(struct list_lru_one *list, struct list_head *item, struct list_head *head);

/* Calls back for at most *@nr items, the longest unused first; returns how many were removed. */
extern unsigned long list_lru_walk_node(struct list_lru *lru, int nid, list_lru_walk_cb isolate, void *cb_arg,
					unsigned long *nr);
extern unsigned long kapi_list_lru_walk_irq(struct list_lru *lru, list_lru_walk_cb isolate, void *cb_arg,
					    unsigned long *nr);
#define list_lru_walk_one(lru, nid, memcg, isolate, arg, nr) list_lru_walk_node(lru, nid, isolate, arg, nr)
#define list_lru_walk_one_irq(lru, nid, memcg, isolate, arg, nr) kapi_list_lru_walk_irq(lru, isolate, arg, nr)

static inline unsigned long list_lru_walk(struct list_lru *lru, list_lru_walk_cb isolate, void *cb_arg,
					  unsigned long nr)
{
	return list_lru_walk_node(lru, 0, isolate, cb_arg, &nr);
}

static inline unsigned long list_lru_shrink_walk(struct list_lru *lru, struct shrink_control *sc,
						 list_lru_walk_cb isolate, void *cb_arg)
{
	return list_lru_walk_node(lru, sc->nid, isolate, cb_arg, &sc->nr_to_scan);
}

static inline unsigned long list_lru_shrink_walk_irq(struct list_lru *lru, struct shrink_control *sc,
						     list_lru_walk_cb isolate, void *cb_arg)
{
	return kapi_list_lru_walk_irq(lru, isolate, cb_arg, &sc->nr_to_scan);
}

#endif
