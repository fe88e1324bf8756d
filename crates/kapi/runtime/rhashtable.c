// SPDX-License-Identifier: MIT OR Apache-2.0
// Hash tables that grow and shrink: see linux/rhashtable.h for how.
#include <linux/kernel.h>
#include <linux/log2.h>
#include <linux/overflow.h>
#include <linux/random.h>
#include <linux/rhashtable.h>
#include <linux/sched.h>
#include <linux/slab.h>

#define SIZE_USUAL 64U
#define SIZE_MIN 4U
#define SIZE_MAX_LOG2 28

static struct rhash_head *end_of(struct rhash_head **bucket) { return (struct rhash_head *)((unsigned long)bucket | 1); }
static struct rhlist_head *list_of(struct rhash_head *he) { return container_of(he, struct rhlist_head, rhead); }

static struct bucket_table *table_of(unsigned int size, gfp_t gfp)
{
	struct bucket_table *tbl = kvmalloc(struct_size(tbl, buckets, size), gfp | __GFP_ZERO);
	unsigned int i;

	if (!tbl)
		return NULL;
	tbl->size = size;
	tbl->hash_rnd = get_random_u32();
	for (i = 0; i < size; i++)
		tbl->buckets[i] = end_of(&tbl->buckets[i]);
	return tbl;
}

static u32 key_hash(const struct rhashtable *ht, const struct bucket_table *tbl, const void *key,
		    const struct rhashtable_params *params)
{
	u32 len = params->key_len ?: ht->key_len;

	return params->hashfn ? params->hashfn(key, len, tbl->hash_rnd) : jhash(key, len, tbl->hash_rnd);
}

static u32 obj_hash(const struct rhashtable *ht, const struct bucket_table *tbl, const struct rhash_head *he,
		    const struct rhashtable_params *params)
{
	const char *obj = rht_obj(ht, he);

	if (params->obj_hashfn)
		return params->obj_hashfn(obj, params->key_len ?: ht->key_len, tbl->hash_rnd);
	return key_hash(ht, tbl, obj + params->key_offset, params);
}

static bool has_key(struct rhashtable *ht, const struct rhash_head *he, const void *key,
		    const struct rhashtable_params *params)
{
	struct rhashtable_compare_arg arg = { .ht = ht, .key = key };
	const char *obj = rht_obj(ht, he);

	if (params->obj_cmpfn)
		return params->obj_cmpfn(&arg, obj) == 0;
	return memcmp(obj + params->key_offset, key, params->key_len ?: ht->key_len) == 0;
}

static struct rhash_head **bucket_of(struct bucket_table *tbl, u32 hash) { return &tbl->buckets[hash & (tbl->size - 1)]; }

struct rhash_head *kapi_rht_lookup(struct rhashtable *ht, const void *key, const struct rhashtable_params *params)
{
	struct bucket_table *tbl = rcu_dereference(ht->tbl);

	for (; tbl; tbl = rcu_dereference(tbl->future_tbl)) {
		struct rhash_head **bucket = bucket_of(tbl, key_hash(ht, tbl, key, params)), *he;

		do {
			for (he = rcu_dereference(*bucket); !rht_is_a_nulls(he); he = rcu_dereference(he->next))
				if (has_key(ht, he, key, params))
					return he;
			/* Led into a chain of another table: once more. */
		} while (he != end_of(bucket));
		/* What moved before that chain was read is in the table beside. */
		smp_rmb();
	}
	return NULL;
}

static unsigned int size_wanted(const struct rhashtable *ht, unsigned int size)
{
	unsigned int nelems = (unsigned int)atomic_read(&ht->nelems);
	unsigned int most = ht->p.max_size ?: 1U << SIZE_MAX_LOG2;

	/* As often as it takes: a work may come late. */
	while (nelems > size / 4 * 3 && size < most)
		size *= 2;
	if (nelems > size / 8 * 3)
		return size;
	if (ht->p.automatic_shrinking && nelems < size * 3ULL / 10 && size > ht->p.min_size)
		return clamp((unsigned int)roundup_pow_of_two(nelems * 3ULL / 2 + 1), (unsigned int)ht->p.min_size, size);
	return size;
}

/* With the lock held. */
static void look_at_size(struct rhashtable *ht)
{
	struct bucket_table *tbl = ht->tbl;

	if (!tbl->future_tbl && size_wanted(ht, tbl->size) != tbl->size)
		schedule_work(&ht->run_work);
}

/* Entries that are moved after one walk to the end of a chain. */
#define MOVED_AT_ONCE 64

/* Moves the entries of a chain, the last one first: whoever stands before it still comes by all others. */
static void move_chain(struct rhashtable *ht, struct rhash_head **bucket, struct bucket_table *to)
{
	struct rhash_head **places[MOVED_AT_ONCE];

	while (!rht_is_a_nulls(*bucket)) {
		struct rhash_head **place, **target, *he;
		unsigned int n = 0, left;

		for (place = bucket; !rht_is_a_nulls(*place); place = &(*place)->next)
			places[n++ % MOVED_AT_ONCE] = place;
		for (left = min(n, MOVED_AT_ONCE + 0U); left--;) {
			place = places[--n % MOVED_AT_ONCE];
			he = *place;
			target = bucket_of(to, obj_hash(ht, to, he, &ht->p));
			WRITE_ONCE(he->next, *target);
			rcu_assign_pointer(*target, he);
			rcu_assign_pointer(*place, end_of(bucket));
		}
	}
}

static bool resize(struct rhashtable *ht)
{
	struct bucket_table *old = ht->tbl, *tbl;
	unsigned int size = size_wanted(ht, old->size), i;

	if (size == old->size)
		return false;
	tbl = table_of(size, GFP_KERNEL);
	if (!tbl)
		return false;
	spin_lock_bh(&ht->lock);
	rcu_assign_pointer(old->future_tbl, tbl);
	spin_unlock_bh(&ht->lock);
	for (i = 0; i < old->size; i++) {
		spin_lock_bh(&ht->lock);
		move_chain(ht, &old->buckets[i], tbl);
		spin_unlock_bh(&ht->lock);
	}
	spin_lock_bh(&ht->lock);
	rcu_assign_pointer(ht->tbl, tbl);
	WRITE_ONCE(ht->kapi_generation, ht->kapi_generation + 1);
	spin_unlock_bh(&ht->lock);
	kvfree_rcu(old, rcu);
	return true;
}

static void resize_work(struct work_struct *work)
{
	struct rhashtable *ht = container_of(work, struct rhashtable, run_work);

	mutex_lock(&ht->mutex);
	while (resize(ht))
		;
	mutex_unlock(&ht->mutex);
}

int rhashtable_init(struct rhashtable *ht, const struct rhashtable_params *params)
{
	unsigned int size = SIZE_USUAL;

	if ((!params->key_len && !params->obj_hashfn) || (params->obj_hashfn && !params->obj_cmpfn))
		return -EINVAL;
	memset(ht, 0, sizeof(*ht));
	mutex_init(&ht->mutex);
	spin_lock_init(&ht->lock);
	ht->p = *params;
	ht->key_len = params->key_len;
	ht->p.min_size = max(params->min_size ? (unsigned int)rounddown_pow_of_two(params->min_size) : 0U, SIZE_MIN);
	if (params->max_size)
		ht->p.max_size = max((unsigned int)rounddown_pow_of_two(params->max_size), (unsigned int)ht->p.min_size);
	ht->max_elems = 1U << 31;
	if (ht->p.max_size && ht->p.max_size < ht->max_elems / 2)
		ht->max_elems = ht->p.max_size * 2;
	if (params->nelem_hint)
		size = (unsigned int)roundup_pow_of_two(params->nelem_hint * 4U / 3 + 1);
	if (ht->p.max_size)
		size = min(size, ht->p.max_size);
	ht->tbl = table_of(max(size, (unsigned int)ht->p.min_size), GFP_KERNEL);
	if (!ht->tbl)
		return -ENOMEM;
	INIT_WORK(&ht->run_work, resize_work);
	return 0;
}

int rhltable_init(struct rhltable *hlt, const struct rhashtable_params *params)
{
	int error = rhashtable_init(&hlt->ht, params);

	hlt->ht.rhlist = true;
	return error;
}

void rhashtable_free_and_destroy(struct rhashtable *ht, void (*free_fn)(void *ptr, void *arg), void *arg)
{
	struct bucket_table *tbl, *next_tbl;
	unsigned int i;

	cancel_work_sync(&ht->run_work);
	for (tbl = ht->tbl; tbl; tbl = next_tbl) {
		for (i = 0; free_fn && i < tbl->size; i++) {
			struct rhash_head *he, *next;
			struct rhlist_head *list, *next_list;

			for (he = tbl->buckets[i]; !rht_is_a_nulls(he); he = next) {
				next = he->next;
				list = ht->rhlist ? list_of(he)->next : NULL;
				free_fn(rht_obj(ht, he), arg);
				for (; list; list = next_list) {
					next_list = list->next;
					free_fn(rht_obj(ht, &list->rhead), arg);
				}
			}
		}
		next_tbl = tbl->future_tbl;
		kvfree(tbl);
	}
	ht->tbl = NULL;
}

void rhashtable_destroy(struct rhashtable *ht) { rhashtable_free_and_destroy(ht, NULL, NULL); }

/* The place of the entry with a key in a chain; NULL. With the lock held. */
static struct rhash_head **place_of_key(struct rhashtable *ht, struct bucket_table *tbl, const void *key,
					const struct rhashtable_params *params)
{
	struct rhash_head **place = bucket_of(tbl, key_hash(ht, tbl, key, params));

	for (; !rht_is_a_nulls(*place); place = &(*place)->next)
		if (has_key(ht, *place, key, params))
			return place;
	return NULL;
}

static void *insert(struct rhashtable *ht, const void *key, struct rhash_head *obj,
		    const struct rhashtable_params *params, bool list)
{
	struct rhash_head **place = NULL;
	struct bucket_table *tbl, *newest = ht->tbl;

	for (tbl = ht->tbl; tbl && !place; tbl = tbl->future_tbl) {
		place = key ? place_of_key(ht, tbl, key, params) : NULL;
		newest = tbl;
	}
	if (place && !list)
		return rht_obj(ht, *place);
	if (place) {
		list_of(obj)->next = list_of(*place);
		obj->next = (*place)->next;
		rcu_assign_pointer(*place, obj);
		return NULL;
	}
	if ((unsigned int)atomic_read(&ht->nelems) >= ht->max_elems)
		return ERR_PTR(-E2BIG);
	if (list)
		list_of(obj)->next = NULL;
	place = bucket_of(newest, obj_hash(ht, newest, obj, params));
	obj->next = *place;
	rcu_assign_pointer(*place, obj);
	atomic_inc(&ht->nelems);
	look_at_size(ht);
	return NULL;
}

void *kapi_rht_insert(struct rhashtable *ht, const void *key, struct rhash_head *obj,
		      const struct rhashtable_params *params, bool list)
{
	void *found;

	spin_lock_bh(&ht->lock);
	found = insert(ht, key, obj, params, list);
	spin_unlock_bh(&ht->lock);
	return found;
}

void *rhashtable_insert_slow(struct rhashtable *ht, const void *key, struct rhash_head *obj)
{
	return kapi_rht_insert(ht, key, obj, &ht->p, ht->rhlist);
}

/* The entry of a chain takes leave; one with the same key takes its place if there is one. */
static void take_off(struct rhashtable *ht, struct rhash_head **place, bool list)
{
	struct rhash_head *he = *place;
	struct rhlist_head *next = list ? list_of(he)->next : NULL;

	if (next) {
		next->rhead.next = he->next;
		rcu_assign_pointer(*place, &next->rhead);
		return;
	}
	rcu_assign_pointer(*place, he->next);
	atomic_dec(&ht->nelems);
	look_at_size(ht);
}

static bool take_off_list(struct rhash_head *he, struct rhash_head *obj)
{
	struct rhlist_head **place = &list_of(he)->next;

	for (; *place; place = &(*place)->next) {
		if (&(*place)->rhead == obj) {
			rcu_assign_pointer(*place, (*place)->next);
			return true;
		}
	}
	return false;
}

static bool remove_from(struct rhashtable *ht, struct bucket_table *tbl, struct rhash_head *obj,
			const struct rhashtable_params *params, bool list)
{
	struct rhash_head **place = bucket_of(tbl, obj_hash(ht, tbl, obj, params));

	for (; !rht_is_a_nulls(*place); place = &(*place)->next) {
		if (*place == obj) {
			take_off(ht, place, list);
			return true;
		}
		if (list && take_off_list(*place, obj))
			return true;
	}
	return false;
}

int kapi_rht_remove(struct rhashtable *ht, struct rhash_head *obj, const struct rhashtable_params *params, bool list)
{
	struct bucket_table *tbl;
	bool found = false;

	spin_lock_bh(&ht->lock);
	for (tbl = ht->tbl; tbl && !found; tbl = tbl->future_tbl)
		found = remove_from(ht, tbl, obj, params, list);
	spin_unlock_bh(&ht->lock);
	return found ? 0 : -ENOENT;
}

static int replace(struct rhashtable *ht, struct rhash_head *old, struct rhash_head *obj,
		   const struct rhashtable_params *params)
{
	struct bucket_table *tbl;

	for (tbl = ht->tbl; tbl; tbl = tbl->future_tbl) {
		u32 hash = obj_hash(ht, tbl, old, params);
		struct rhash_head **place = bucket_of(tbl, hash);

		if (hash != obj_hash(ht, tbl, obj, params))
			return -EINVAL;
		for (; !rht_is_a_nulls(*place); place = &(*place)->next) {
			if (*place == old) {
				obj->next = old->next;
				rcu_assign_pointer(*place, obj);
				return 0;
			}
		}
	}
	return -ENOENT;
}

int kapi_rht_replace(struct rhashtable *ht, struct rhash_head *old, struct rhash_head *obj,
		     const struct rhashtable_params *params)
{
	int error;

	spin_lock_bh(&ht->lock);
	error = replace(ht, old, obj, params);
	spin_unlock_bh(&ht->lock);
	return error;
}

void rhashtable_walk_enter(struct rhashtable *ht, struct rhashtable_iter *iter)
{
	memset(iter, 0, sizeof(*iter));
	iter->ht = ht;
	spin_lock_bh(&ht->lock);
	iter->walker.tbl = ht->tbl;
	iter->walker.kapi_generation = ht->kapi_generation;
	spin_unlock_bh(&ht->lock);
}

void rhashtable_walk_exit(struct rhashtable_iter *iter) { iter->walker.tbl = NULL; }

/* Between stop and start the entry that was shown may go, and the table: then from the beginning. */
int rhashtable_walk_start_check(struct rhashtable_iter *iter)
{
	struct rhashtable *ht = iter->ht;
	bool same;

	rcu_read_lock();
	iter->p = NULL;
	spin_lock_bh(&ht->lock);
	same = iter->walker.kapi_generation == ht->kapi_generation;
	if (!same && !iter->end_of_table) {
		iter->walker.tbl = ht->tbl;
		iter->walker.kapi_generation = ht->kapi_generation;
		iter->slot = iter->skip = 0;
	}
	spin_unlock_bh(&ht->lock);
	return same || iter->end_of_table ? 0 : -EAGAIN;
}

static void *shown(struct rhashtable_iter *iter, struct rhash_head *he, struct rhlist_head *list)
{
	iter->p = he;
	iter->list = list;
	iter->skip++;
	return rht_obj(iter->ht, list ? &list->rhead : he);
}

/* The entry behind those of the slot that were shown; of further slots the first. */
static void *find_next(struct rhashtable_iter *iter)
{
	struct bucket_table *tbl = iter->walker.tbl;
	bool lists = iter->ht->rhlist;

	for (; iter->slot < tbl->size; iter->slot++, iter->skip = 0) {
		struct rhash_head *he = rcu_dereference(tbl->buckets[iter->slot]);
		unsigned int left = iter->skip;

		for (; !rht_is_a_nulls(he); he = rcu_dereference(he->next)) {
			struct rhlist_head *list = lists ? list_of(he) : NULL;

			do {
				if (!left--)
					return shown(iter, he, list);
				list = list ? rcu_dereference(list->next) : NULL;
			} while (list);
		}
	}
	iter->p = NULL;
	smp_rmb();
	iter->walker.tbl = rcu_dereference(tbl->future_tbl);
	iter->slot = iter->skip = 0;
	if (iter->walker.tbl)
		return ERR_PTR(-EAGAIN);
	iter->walker.tbl = tbl;
	iter->end_of_table = true;
	return NULL;
}

void *rhashtable_walk_next(struct rhashtable_iter *iter)
{
	struct rhlist_head *list = iter->list ? rcu_dereference(iter->list->next) : NULL;
	struct rhash_head *he = iter->p;

	if (iter->end_of_table)
		return NULL;
	if (!he)
		return find_next(iter);
	if (list)
		return shown(iter, he, list);
	he = rcu_dereference(he->next);
	if (!rht_is_a_nulls(he))
		return shown(iter, he, iter->ht->rhlist ? list_of(he) : NULL);
	iter->slot++;
	iter->skip = 0;
	iter->p = NULL;
	return find_next(iter);
}

void *rhashtable_walk_peek(struct rhashtable_iter *iter)
{
	if (iter->p)
		return rht_obj(iter->ht, iter->list ? &iter->list->rhead : iter->p);
	if (iter->end_of_table)
		return NULL;
	/* Once more what was shown last before the walk was stopped. */
	if (iter->skip)
		iter->skip--;
	return find_next(iter);
}

void rhashtable_walk_stop(struct rhashtable_iter *iter)
{
	iter->p = NULL;
	iter->list = NULL;
	rcu_read_unlock();
}

/* The first entry of the table from a slot on, and of the tables beside. */
static void *first_from(struct rhashtable *ht, struct bucket_table *tbl, unsigned int slot)
{
	for (; tbl; tbl = rcu_dereference(tbl->future_tbl), slot = 0) {
		for (; slot < tbl->size; slot++) {
			struct rhash_head *he = rcu_dereference(tbl->buckets[slot]);

			if (!rht_is_a_nulls(he))
				return rht_obj(ht, he);
		}
		smp_rmb();
	}
	return NULL;
}

void *rhashtable_next_key(struct rhashtable *ht, const void *prev_key)
{
	struct bucket_table *tbl = rcu_dereference(ht->tbl);

	if (!prev_key)
		return first_from(ht, tbl, 0);
	for (; tbl; tbl = rcu_dereference(tbl->future_tbl)) {
		struct rhash_head **bucket = bucket_of(tbl, key_hash(ht, tbl, prev_key, &ht->p));
		struct rhash_head *he = rcu_dereference(*bucket), *next;

		for (; !rht_is_a_nulls(he); he = next) {
			next = rcu_dereference(he->next);
			if (has_key(ht, he, prev_key, &ht->p))
				return rht_is_a_nulls(next) ? first_from(ht, tbl, (unsigned int)(bucket - tbl->buckets) + 1)
							    : rht_obj(ht, next);
		}
		smp_rmb();
	}
	return ERR_PTR(-ENOENT);
}
