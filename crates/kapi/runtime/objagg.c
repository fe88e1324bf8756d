// SPDX-License-Identifier: MIT OR Apache-2.0
// Objects as deltas of others. They are few, so that lists do.
#include "host.h"
#include <linux/err.h>
#include <linux/idr.h>
#include <linux/kernel.h>
#include <linux/list.h>
#include <linux/objagg.h>
#include <linux/refcount.h>
#include <linux/slab.h>
#include <linux/sort.h>
#include <linux/string.h>

struct objagg {
	const struct objagg_ops *ops;
	void *priv;
	/* The newest first. */
	struct list_head objects;
	struct objagg_hints *hints;
	struct ida root_ids;
};

struct objagg_obj {
	struct list_head list;
	/* Of a delta: its root. */
	struct objagg_obj *parent;
	void *delta_priv, *root_priv;
	unsigned int root_id;
	/* Its users and its deltas. */
	unsigned int refs;
	struct objagg_obj_stats stats;
	char raw[];
};

/* What the hints say of an object. */
struct hint {
	struct objagg_obj_stats_info info;
	struct hint *parent;
	unsigned int root_id;
	const void *raw;
};

struct objagg_hints {
	refcount_t refs;
	const struct objagg_ops *ops;
	unsigned int count, roots;
	struct hint hints[];
};

const void *objagg_obj_root_priv(const struct objagg_obj *obj)
{
	return obj->parent ? obj->parent->root_priv : obj->root_priv;
}

const void *objagg_obj_delta_priv(const struct objagg_obj *obj) { return obj->parent ? obj->delta_priv : NULL; }
const void *objagg_obj_raw(const struct objagg_obj *obj) { return obj->raw; }

static struct hint *hint_for(struct objagg *objagg, const void *raw)
{
	unsigned int i;

	for (i = 0; objagg->hints && i < objagg->hints->count; i++)
		if (!memcmp(objagg->hints->hints[i].raw, raw, objagg->ops->obj_size))
			return &objagg->hints->hints[i];
	return NULL;
}

static void put(struct objagg *objagg, struct objagg_obj *obj)
{
	struct objagg_obj *parent = obj->parent;

	if (--obj->refs)
		return;
	list_del(&obj->list);
	if (parent) {
		objagg->ops->delta_destroy(objagg->priv, obj->delta_priv);
		put(objagg, parent);
	} else {
		objagg->ops->root_destroy(objagg->priv, obj->root_priv);
		if (objagg->hints)
			ida_free(&objagg->root_ids, obj->root_id);
	}
	kfree(obj);
}

static int become_delta(struct objagg *objagg, struct objagg_obj *obj, struct objagg_obj *parent)
{
	void *delta = objagg->ops->delta_create(objagg->priv, parent->raw, obj->raw);

	if (IS_ERR(delta))
		return PTR_ERR(delta);
	obj->delta_priv = delta;
	obj->parent = parent;
	parent->refs++;
	return 0;
}

static int become_root(struct objagg *objagg, struct objagg_obj *obj, struct hint *hint)
{
	int id = -1;
	void *root;

	/* The hints' roots have the first numbers. */
	if (objagg->hints) {
		id = hint ? ida_alloc_range(&objagg->root_ids, hint->root_id, hint->root_id, GFP_KERNEL) :
			    ida_alloc_min(&objagg->root_ids, objagg->hints->roots, GFP_KERNEL);
		if (id < 0)
			return id;
	}
	obj->root_id = (unsigned int)id;
	root = objagg->ops->root_create(objagg->priv, obj->raw, obj->root_id);
	if (IS_ERR(root)) {
		if (id >= 0)
			ida_free(&objagg->root_ids, (unsigned int)id);
		return PTR_ERR(root);
	}
	obj->root_priv = root;
	return 0;
}

static struct objagg_obj *get(struct objagg *objagg, const void *raw);

static int settle(struct objagg *objagg, struct objagg_obj *obj)
{
	struct hint *hint = hint_for(objagg, obj->raw);
	struct objagg_obj *other;
	int error;

	if (hint && !hint->parent)
		return become_root(objagg, obj, hint);
	if (hint) {
		other = get(objagg, hint->parent->raw);
		if (IS_ERR(other))
			return PTR_ERR(other);
		error = become_delta(objagg, obj, other);
		put(objagg, other);
		return error;
	}
	list_for_each_entry(other, &objagg->objects, list)
		if (!other->parent && objagg->ops->delta_check(objagg->priv, other->raw, obj->raw) &&
		    !become_delta(objagg, obj, other))
			return 0;
	return become_root(objagg, obj, NULL);
}

static struct objagg_obj *get(struct objagg *objagg, const void *raw)
{
	struct objagg_obj *obj;
	int error;

	list_for_each_entry(obj, &objagg->objects, list)
		if (!memcmp(obj->raw, raw, objagg->ops->obj_size)) {
			obj->refs++;
			return obj;
		}
	obj = kzalloc(sizeof(*obj) + objagg->ops->obj_size, GFP_KERNEL);
	if (!obj)
		return ERR_PTR(-ENOMEM);
	obj->refs = 1;
	memcpy(obj->raw, raw, objagg->ops->obj_size);
	error = settle(objagg, obj);
	if (error) {
		kfree(obj);
		return ERR_PTR(error);
	}
	list_add(&obj->list, &objagg->objects);
	return obj;
}

static void count(struct objagg_obj *obj, int by)
{
	obj->stats.user_count += by;
	obj->stats.delta_user_count += by;
	if (obj->parent)
		obj->parent->stats.delta_user_count += by;
}

struct objagg_obj *objagg_obj_get(struct objagg *objagg, void *raw)
{
	struct objagg_obj *obj = get(objagg, raw);

	if (!IS_ERR(obj))
		count(obj, 1);
	return obj;
}

void objagg_obj_put(struct objagg *objagg, struct objagg_obj *obj)
{
	count(obj, -1);
	put(objagg, obj);
}

struct objagg *objagg_create(const struct objagg_ops *ops, struct objagg_hints *hints, void *priv)
{
	struct objagg *objagg = kzalloc(sizeof(*objagg), GFP_KERNEL);

	if (!objagg)
		return ERR_PTR(-ENOMEM);
	objagg->ops = ops;
	objagg->priv = priv;
	objagg->hints = hints;
	if (hints)
		refcount_inc(&hints->refs);
	INIT_LIST_HEAD(&objagg->objects);
	ida_init(&objagg->root_ids);
	return objagg;
}

void objagg_destroy(struct objagg *objagg)
{
	WARN_ON(!list_empty(&objagg->objects));
	ida_destroy(&objagg->root_ids);
	if (objagg->hints)
		objagg_hints_put(objagg->hints);
	kfree(objagg);
}

static int by_users(const void *a, const void *b)
{
	const struct objagg_obj_stats_info *one = a, *other = b;

	if (one->is_root != other->is_root)
		return one->is_root ? -1 : 1;
	if (one->stats.delta_user_count != other->stats.delta_user_count)
		return one->stats.delta_user_count > other->stats.delta_user_count ? -1 : 1;
	return (int)other->stats.user_count - (int)one->stats.user_count;
}

static const struct objagg_stats *sorted(struct objagg_stats *stats)
{
	unsigned int i;

	for (i = 0; i < stats->stats_info_count; i++)
		stats->root_count += stats->stats_info[i].is_root;
	sort(stats->stats_info, stats->stats_info_count, sizeof(stats->stats_info[0]), by_users, NULL);
	return stats;
}

static struct objagg_stats *alloc_stats(size_t count)
{
	struct objagg_stats *stats = kzalloc(struct_size(stats, stats_info, count), GFP_KERNEL);

	if (!stats)
		return ERR_PTR(-ENOMEM);
	stats->stats_info_count = (unsigned int)count;
	return stats;
}

const struct objagg_stats *objagg_stats_get(struct objagg *objagg)
{
	struct objagg_stats *stats = alloc_stats(list_count_nodes(&objagg->objects));
	struct objagg_obj *obj;
	unsigned int i = 0;

	if (IS_ERR(stats))
		return stats;
	list_for_each_entry(obj, &objagg->objects, list)
		stats->stats_info[i++] = (struct objagg_obj_stats_info){
			.stats = obj->stats, .objagg_obj = obj, .is_root = !obj->parent };
	return sorted(stats);
}

void objagg_stats_put(const struct objagg_stats *stats) { kfree(stats); }

/* The users that @root and those of its possible deltas have which have no place yet. */
static unsigned int weight(struct objagg *objagg, struct objagg_hints *hints, struct hint *root)
{
	unsigned int users = root->info.stats.user_count, i;

	for (i = 0; i < hints->count; i++) {
		struct hint *hint = &hints->hints[i];

		if (hint != root && !hint->parent && !hint->info.is_root &&
		    objagg->ops->delta_check(objagg->priv, root->raw, hint->raw))
			users += hint->info.stats.user_count;
	}
	return users;
}

static void place(struct objagg *objagg, struct objagg_hints *hints)
{
	unsigned int i;

	for (;;) {
		struct hint *best = NULL;
		unsigned int most = 0;

		for (i = 0; i < hints->count; i++) {
			struct hint *hint = &hints->hints[i];
			unsigned int users;

			if (hint->parent || hint->info.is_root)
				continue;
			users = weight(objagg, hints, hint);
			if (!best || users > most) {
				best = hint;
				most = users;
			}
		}
		if (!best)
			return;
		best->info.is_root = true;
		best->root_id = hints->roots++;
		best->info.stats.delta_user_count = most;
		for (i = 0; i < hints->count; i++) {
			struct hint *hint = &hints->hints[i];

			if (hint->parent || hint->info.is_root ||
			    !objagg->ops->delta_check(objagg->priv, best->raw, hint->raw))
				continue;
			hint->parent = best;
			hint->info.stats.delta_user_count = hint->info.stats.user_count;
		}
	}
}

struct objagg_hints *objagg_hints_get(struct objagg *objagg, enum objagg_opt_algo_type type)
{
	size_t count = list_count_nodes(&objagg->objects), bytes;
	struct objagg_hints *hints;
	struct objagg_obj *obj;
	char *raw;

	if (type != OBJAGG_OPT_ALGO_SIMPLE_GREEDY)
		return ERR_PTR(-EINVAL);
	bytes = struct_size(hints, hints, count);
	/* Behind the hints the objects' bytes: the hints may outlive those. */
	hints = kzalloc(bytes + count * objagg->ops->obj_size, GFP_KERNEL);
	if (!hints)
		return ERR_PTR(-ENOMEM);
	refcount_set(&hints->refs, 1);
	hints->ops = objagg->ops;
	raw = (char *)hints + bytes;
	list_for_each_entry(obj, &objagg->objects, list) {
		struct hint *hint = &hints->hints[hints->count++];

		hint->info.objagg_obj = obj;
		hint->info.stats.user_count = obj->stats.user_count;
		hint->raw = memcpy(raw, obj->raw, objagg->ops->obj_size);
		raw += objagg->ops->obj_size;
	}
	place(objagg, hints);
	return hints;
}

void objagg_hints_put(struct objagg_hints *hints)
{
	if (refcount_dec_and_test(&hints->refs))
		kfree(hints);
}

const struct objagg_stats *objagg_hints_stats_get(struct objagg_hints *hints)
{
	struct objagg_stats *stats = alloc_stats(hints->count);
	unsigned int i;

	if (IS_ERR(stats))
		return stats;
	for (i = 0; i < hints->count; i++)
		stats->stats_info[i] = hints->hints[i].info;
	return sorted(stats);
}
