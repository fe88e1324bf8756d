/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * What a case has and finds again: data with a name, freed when the case is over and the last user has put it back.
 *
 * Linux counterpart: include/kunit/resource.h @ 6.12.
 */
#ifndef _KUNIT_RESOURCE_H
#define _KUNIT_RESOURCE_H

#include <kunit/test.h>
#include <linux/kref.h>
#include <linux/list.h>

struct kunit_resource;

typedef int (*kunit_resource_init_t)(struct kunit_resource *res, void *context);
typedef void (*kunit_resource_free_t)(struct kunit_resource *res);
typedef bool (*kunit_resource_match_t)(struct kunit *test, struct kunit_resource *res, void *match_data);

struct kunit_resource {
	void *data;
	const char *name;
	kunit_resource_free_t free;
	struct kref refcount;
	struct list_head node;
	bool should_kfree;
};

/* @init: makes the data of @context; without it the data is @context. */
extern int kunit_add_resource(struct kunit *test, kunit_resource_init_t init, kunit_resource_free_t free,
			      struct kunit_resource *res, void *context);
extern int kunit_add_named_resource(struct kunit *test, kunit_resource_init_t init, kunit_resource_free_t free,
				    struct kunit_resource *res, const char *name, void *context);
/* Return: the data. */
extern void *kunit_alloc_resource(struct kunit *test, kunit_resource_init_t init, kunit_resource_free_t free, gfp_t gfp,
				  void *context);
/* Return: the resource, with a reference. */
extern struct kunit_resource *kunit_alloc_and_get_resource(struct kunit *test, kunit_resource_init_t init,
							   kunit_resource_free_t free, gfp_t gfp, void *context);
/* Return: the newest that matches, with a reference, or NULL. */
extern struct kunit_resource *kunit_find_resource(struct kunit *test, kunit_resource_match_t match, void *match_data);
extern struct kunit_resource *kunit_find_named_resource(struct kunit *test, const char *name);
extern void kunit_get_resource(struct kunit_resource *res);
extern void kunit_put_resource(struct kunit_resource *res);
/* The case has it no more. */
extern void kunit_remove_resource(struct kunit *test, struct kunit_resource *res);
extern int kunit_destroy_resource(struct kunit *test, kunit_resource_match_t match, void *match_data);
extern int kunit_destroy_named_resource(struct kunit *test, const char *name);
extern bool kunit_resource_name_match(struct kunit *test, struct kunit_resource *res, void *match_name);

#endif
