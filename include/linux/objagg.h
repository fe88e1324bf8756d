/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Objects that share: one that differs little from another is kept as its delta, so that only roots take a scarce thing.
 * Hints from one set of objects say which roots are best for another.
 *
 * Linux counterpart: include/linux/objagg.h @ 6.12.
 */
#ifndef _LINUX_OBJAGG_H
#define _LINUX_OBJAGG_H

#include <linux/types.h>

#define OBJAGG_OBJ_ROOT_ID_INVALID UINT_MAX

struct objagg_ops {
	size_t obj_size;
	/* Whether @obj can be a delta of @parent_obj. */
	bool (*delta_check)(void *priv, const void *parent_obj, const void *obj);
	void *(*delta_create)(void *priv, void *parent_obj, void *obj);
	void (*delta_destroy)(void *priv, void *delta_priv);
	void *(*root_create)(void *priv, void *obj, unsigned int root_id);
	void (*root_destroy)(void *priv, void *root_priv);
};

struct objagg;
struct objagg_obj;
struct objagg_hints;

extern struct objagg *objagg_create(const struct objagg_ops *ops, struct objagg_hints *hints, void *priv);
extern void objagg_destroy(struct objagg *objagg);
extern struct objagg_obj *objagg_obj_get(struct objagg *objagg, void *obj);
extern void objagg_obj_put(struct objagg *objagg, struct objagg_obj *objagg_obj);
/* What root_create() made, of its root for a delta; what delta_create() made, or NULL; the object's own bytes. */
extern const void *objagg_obj_root_priv(const struct objagg_obj *objagg_obj);
extern const void *objagg_obj_delta_priv(const struct objagg_obj *objagg_obj);
extern const void *objagg_obj_raw(const struct objagg_obj *objagg_obj);

struct objagg_obj_stats {
	unsigned int user_count;
	/* With the users of its deltas. */
	unsigned int delta_user_count;
};

struct objagg_obj_stats_info {
	struct objagg_obj_stats stats;
	struct objagg_obj *objagg_obj;
	bool is_root;
};

/* Roots first, those with the most users first. */
struct objagg_stats {
	unsigned int root_count;
	unsigned int stats_info_count;
	struct objagg_obj_stats_info stats_info[];
};

extern const struct objagg_stats *objagg_stats_get(struct objagg *objagg);
extern void objagg_stats_put(const struct objagg_stats *objagg_stats);

enum objagg_opt_algo_type {
	/* The root with the most users comes first, and so on with what is left. */
	OBJAGG_OPT_ALGO_SIMPLE_GREEDY
};

extern struct objagg_hints *objagg_hints_get(struct objagg *objagg, enum objagg_opt_algo_type opt_algo_type);
extern void objagg_hints_put(struct objagg_hints *objagg_hints);
extern const struct objagg_stats *objagg_hints_stats_get(struct objagg_hints *objagg_hints);

#endif
