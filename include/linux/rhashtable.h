/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Hash tables that grow and shrink while they are read, without a lock for readers.
 *
 * How it works: a table has chains that end with a number of their own. Changes take the table's lock. When it is three
 * quarters full, or, if it was asked to shrink, less than three tenths, a work makes a table beside it and moves the
 * entries, the last of each chain first; meanwhile new ones go into the new table and readers look in both. A reader
 * that stands on an entry that moves is led into a chain of the new table, notices at its end that the number is not
 * the one that it began with, and looks again. The old table goes after a grace period.
 *
 * Entries with the same key (struct rhltable) are a list of which the first is in the chain.
 *
 * Linux counterpart: include/linux/rhashtable.h, include/linux/rhashtable-types.h @ 6.12. Differences from Linux: one
 * lock, not one for each chain, so that a table is never too busy to take an entry; inserting never makes a table
 * itself, so that it fails only if the table's max_size says so; nested tables are not needed, since large ones are
 * areas.
 */
#ifndef _LINUX_RHASHTABLE_H
#define _LINUX_RHASHTABLE_H

#include <linux/atomic.h>
#include <linux/err.h>
#include <linux/errno.h>
#include <linux/jhash.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/rculist.h>
#include <linux/spinlock.h>
#include <linux/version.h>
#include <linux/workqueue.h>
#include <kapi/bytes.h>

#define RHT_ELASTICITY 16u

struct rhash_head {
	struct rhash_head __rcu *next;
};
struct rhlist_head {
	struct rhash_head rhead;
	struct rhlist_head __rcu *next;
};

struct rhashtable;

struct rhashtable_compare_arg {
	struct rhashtable *ht;
	const void *key;
};
typedef u32 (*rht_hashfn_t)(const void *data, u32 len, u32 seed);
typedef u32 (*rht_obj_hashfn_t)(const void *data, u32 len, u32 seed);
typedef int (*rht_obj_cmpfn_t)(struct rhashtable_compare_arg *arg, const void *obj);

struct rhashtable_params {
	u16 nelem_hint;
	u16 key_len;
	u16 key_offset;
	u16 head_offset;
	unsigned int max_size;
	u16 min_size;
	bool automatic_shrinking;
	rht_hashfn_t hashfn;
	rht_obj_hashfn_t obj_hashfn;
	rht_obj_cmpfn_t obj_cmpfn;
};

/* @buckets: first entries, or the odd number that ends a chain. */
struct bucket_table {
	unsigned int size;
	u32 hash_rnd;
	struct bucket_table __rcu *future_tbl;
	struct rcu_head rcu;
	struct rhash_head __rcu *buckets[];
};

struct rhashtable {
	struct bucket_table __rcu *tbl;
	unsigned int key_len;
	unsigned int max_elems;
	struct rhashtable_params p;
	bool rhlist;
	/* Rises when a table is gone. */
	unsigned int kapi_generation;
	struct work_struct run_work;
#if LINUX_VERSION_CODE >= KERNEL_VERSION(7, 0, 0)
	unsigned long __kapi_irq_work[4];
#endif
	struct mutex mutex;
	spinlock_t lock;
	atomic_t nelems;
};
KAPI_IS_LARGE(struct rhashtable, KAPI_RHASHTABLE_BYTES);
struct rhltable {
	struct rhashtable ht;
};

struct rhashtable_walker {
	struct bucket_table *tbl;
	unsigned int kapi_generation;
	unsigned long __kapi_rest;
};
struct rhashtable_iter {
	struct rhashtable *ht;
	struct rhash_head *p;
	struct rhlist_head *list;
	struct rhashtable_walker walker;
	unsigned int slot;
	unsigned int skip;
	bool end_of_table;
};
KAPI_IS_LARGE(struct rhashtable_iter, 64);

#define rht_dereference(p, ht) rcu_dereference(p)
#define rht_dereference_rcu(p, ht) rcu_dereference(p)
#define rht_dereference_bucket(p, tbl, hash) rcu_dereference(p)
#define rht_dereference_bucket_rcu(p, tbl, hash) rcu_dereference(p)
#define rht_entry(tpos, pos, member) ({ \
	tpos = container_of(pos, typeof(*tpos), member); \
	1; })

static inline bool rht_is_a_nulls(const struct rhash_head *ptr) { return (unsigned long)ptr & 1; }
static inline void *rht_obj(const struct rhashtable *ht, const struct rhash_head *he)
{
	return (char *)he - ht->p.head_offset;
}
/* The first of a chain; callers that keep others out, and readers. */
static inline struct rhash_head *rht_ptr_exclusive(struct rhash_head *const *bucket) { return rcu_dereference(*bucket); }
static inline struct rhash_head *rht_ptr_rcu(struct rhash_head *const *bucket) { return rcu_dereference(*bucket); }

extern int rhashtable_init(struct rhashtable *ht, const struct rhashtable_params *params);
extern int rhltable_init(struct rhltable *hlt, const struct rhashtable_params *params);
extern void rhashtable_free_and_destroy(struct rhashtable *ht, void (*free_fn)(void *ptr, void *arg), void *arg);
extern void rhashtable_destroy(struct rhashtable *ht);
extern void *rhashtable_insert_slow(struct rhashtable *ht, const void *key, struct rhash_head *obj);
/* Of 7.x, for readers: the entry behind the one with a key, the first for NULL. Not for struct rhltable. */
extern void *rhashtable_next_key(struct rhashtable *ht, const void *prev_key);
extern void rhashtable_walk_enter(struct rhashtable *ht, struct rhashtable_iter *iter);
extern void rhashtable_walk_exit(struct rhashtable_iter *iter);
extern int rhashtable_walk_start_check(struct rhashtable_iter *iter);
extern void *rhashtable_walk_next(struct rhashtable_iter *iter);
extern void *rhashtable_walk_peek(struct rhashtable_iter *iter);
extern void rhashtable_walk_stop(struct rhashtable_iter *iter);

/*
 * Runtime. A lookup is for readers. An insertion returns NULL, the entry that has the key already, or an error;
 * without a key it does not look. @list: entries of the same key stand together.
 */
extern struct rhash_head *kapi_rht_lookup(struct rhashtable *ht, const void *key, const struct rhashtable_params *params);
extern void *kapi_rht_insert(struct rhashtable *ht, const void *key, struct rhash_head *obj,
			     const struct rhashtable_params *params, bool list);
extern int kapi_rht_remove(struct rhashtable *ht, struct rhash_head *obj, const struct rhashtable_params *params,
			   bool list);
extern int kapi_rht_replace(struct rhashtable *ht, struct rhash_head *old, struct rhash_head *obj,
			    const struct rhashtable_params *params);

static inline void rhashtable_walk_start(struct rhashtable_iter *iter) { (void)rhashtable_walk_start_check(iter); }
static inline void rhltable_walk_enter(struct rhltable *hlt, struct rhashtable_iter *iter)
{
	rhashtable_walk_enter(&hlt->ht, iter);
}
static inline void rhltable_free_and_destroy(struct rhltable *hlt, void (*free_fn)(void *ptr, void *arg), void *arg)
{
	rhashtable_free_and_destroy(&hlt->ht, free_fn, arg);
}
static inline void rhltable_destroy(struct rhltable *hlt) { rhashtable_destroy(&hlt->ht); }

/* Callers hold the read-side lock, and use what is found under it. */
static inline void *rhashtable_lookup(struct rhashtable *ht, const void *key, const struct rhashtable_params params)
{
	struct rhash_head *he = kapi_rht_lookup(ht, key, &params);

	return he ? rht_obj(ht, he) : NULL;
}
static inline void *rhashtable_lookup_fast(struct rhashtable *ht, const void *key, const struct rhashtable_params params)
{
	void *obj;

	rcu_read_lock();
	obj = rhashtable_lookup(ht, key, params);
	rcu_read_unlock();
	return obj;
}
static inline struct rhlist_head *rhltable_lookup(struct rhltable *hlt, const void *key,
						  const struct rhashtable_params params)
{
	struct rhash_head *he = kapi_rht_lookup(&hlt->ht, key, &params);

	return he ? container_of(he, struct rhlist_head, rhead) : NULL;
}

static inline int kapi_rht_error(void *result)
{
	if (IS_ERR(result))
		return (int)PTR_ERR(result);
	return result ? -EEXIST : 0;
}
static inline const void *kapi_rht_key(struct rhashtable *ht, const struct rhash_head *obj)
{
	return (char *)rht_obj(ht, obj) + ht->p.key_offset;
}

/* Does not look whether the key is there; the others do. */
static inline int rhashtable_insert_fast(struct rhashtable *ht, struct rhash_head *obj,
					 const struct rhashtable_params params)
{
	return kapi_rht_error(kapi_rht_insert(ht, NULL, obj, &params, false));
}
static inline void *rhashtable_lookup_get_insert_key(struct rhashtable *ht, const void *key, struct rhash_head *obj,
						     const struct rhashtable_params params)
{
	return kapi_rht_insert(ht, key, obj, &params, false);
}
static inline int rhashtable_lookup_insert_key(struct rhashtable *ht, const void *key, struct rhash_head *obj,
					       const struct rhashtable_params params)
{
	return kapi_rht_error(kapi_rht_insert(ht, key, obj, &params, false));
}
static inline void *rhashtable_lookup_get_insert_fast(struct rhashtable *ht, struct rhash_head *obj,
						      const struct rhashtable_params params)
{
	return kapi_rht_insert(ht, kapi_rht_key(ht, obj), obj, &params, false);
}
static inline int rhashtable_lookup_insert_fast(struct rhashtable *ht, struct rhash_head *obj,
						const struct rhashtable_params params)
{
	return kapi_rht_error(rhashtable_lookup_get_insert_fast(ht, obj, params));
}
static inline int rhltable_insert_key(struct rhltable *hlt, const void *key, struct rhlist_head *list,
				      const struct rhashtable_params params)
{
	return kapi_rht_error(kapi_rht_insert(&hlt->ht, key, &list->rhead, &params, true));
}
static inline int rhltable_insert(struct rhltable *hlt, struct rhlist_head *list, const struct rhashtable_params params)
{
	return rhltable_insert_key(hlt, kapi_rht_key(&hlt->ht, &list->rhead), list, params);
}

static inline int rhashtable_remove_fast(struct rhashtable *ht, struct rhash_head *obj,
					 const struct rhashtable_params params)
{
	return kapi_rht_remove(ht, obj, &params, false);
}
static inline int rhltable_remove(struct rhltable *hlt, struct rhlist_head *list, const struct rhashtable_params params)
{
	return kapi_rht_remove(&hlt->ht, &list->rhead, &params, true);
}
/* Of an entry by one with the same key. */
static inline int rhashtable_replace_fast(struct rhashtable *ht, struct rhash_head *old, struct rhash_head *obj,
					  const struct rhashtable_params params)
{
	return kapi_rht_replace(ht, old, obj, &params);
}

#define rhl_for_each_rcu(pos, list) for (pos = list; pos; pos = rcu_dereference(pos->next))
#define rhl_for_each_entry_rcu(tpos, pos, list, member) \
	for (pos = list; pos && rht_entry(tpos, pos, member); pos = rcu_dereference(pos->next))

#endif
