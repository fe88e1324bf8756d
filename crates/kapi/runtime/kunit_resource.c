// SPDX-License-Identifier: MIT OR Apache-2.0
// What KUnit's cases have and find again, memory of a user among it.
#include "host.h"
#include <kunit/resource.h>
#include <linux/errno.h>
#include <linux/slab.h>
#include <linux/string.h>

static void release(struct kref *kref)
{
	struct kunit_resource *res = container_of(kref, struct kunit_resource, refcount);

	if (res->free)
		res->free(res);
	if (res->should_kfree)
		kfree(res);
}

void kunit_get_resource(struct kunit_resource *res) { kref_get(&res->refcount); }
void kunit_put_resource(struct kunit_resource *res) { kref_put(&res->refcount, release); }

static void leave(void *data)
{
	struct kunit_resource *res = data;

	list_del_init(&res->node);
	kunit_put_resource(res);
}

static int add(struct kunit *test, kunit_resource_init_t init, kunit_resource_free_t free, struct kunit_resource *res,
	       void *context)
{
	int error = 0;

	res->free = free;
	kref_init(&res->refcount);
	if (init)
		error = init(res, context);
	else
		res->data = context;
	if (error) {
		if (res->should_kfree)
			kfree(res);
		return error;
	}
	list_add(&res->node, &test->kapi_resources);
	return kunit_add_action_or_reset(test, leave, res);
}

int kunit_add_resource(struct kunit *test, kunit_resource_init_t init, kunit_resource_free_t free,
		       struct kunit_resource *res, void *context)
{
	res->should_kfree = false;
	res->name = NULL;
	return add(test, init, free, res, context);
}

int kunit_add_named_resource(struct kunit *test, kunit_resource_init_t init, kunit_resource_free_t free,
			     struct kunit_resource *res, const char *name, void *context)
{
	struct kunit_resource *other;

	if (!name)
		return -EINVAL;
	other = kunit_find_named_resource(test, name);
	if (other) {
		kunit_put_resource(other);
		return -EEXIST;
	}
	res->should_kfree = false;
	res->name = name;
	return add(test, init, free, res, context);
}

void *kunit_alloc_resource(struct kunit *test, kunit_resource_init_t init, kunit_resource_free_t free, gfp_t gfp,
			   void *context)
{
	struct kunit_resource *res = kzalloc(sizeof(*res), gfp);

	if (!res)
		return NULL;
	res->should_kfree = true;
	return add(test, init, free, res, context) ? NULL : res->data;
}

bool kunit_resource_name_match(struct kunit *test, struct kunit_resource *res, void *match_name)
{
	return res->name && !strcmp(res->name, match_name);
}

struct kunit_resource *kunit_find_resource(struct kunit *test, kunit_resource_match_t match, void *match_data)
{
	struct kunit_resource *res;

	list_for_each_entry(res, &test->kapi_resources, node)
		if (match(test, res, match_data)) {
			kunit_get_resource(res);
			return res;
		}
	return NULL;
}

struct kunit_resource *kunit_find_named_resource(struct kunit *test, const char *name)
{
	return kunit_find_resource(test, kunit_resource_name_match, (void *)name);
}

void kunit_remove_resource(struct kunit *test, struct kunit_resource *res) { kunit_release_action(test, leave, res); }

int kunit_destroy_resource(struct kunit *test, kunit_resource_match_t match, void *match_data)
{
	struct kunit_resource *res = kunit_find_resource(test, match, match_data);

	if (!res)
		return -ENOENT;
	kunit_remove_resource(test, res);
	kunit_put_resource(res);
	return 0;
}

int kunit_destroy_named_resource(struct kunit *test, const char *name)
{
	return kunit_destroy_resource(test, kunit_resource_name_match, (void *)name);
}

static void unmap(void *buffer) { kapi_user_give(buffer); }

unsigned long kunit_vm_mmap(struct kunit *test, struct file *file, unsigned long addr, unsigned long len, unsigned long prot,
			    unsigned long flag, unsigned long offset)
{
	char __user *buffer = file || len > KAPI_USER_BYTES ? NULL : kapi_user_take();

	if (!buffer)
		return 0;
	memset(buffer, 0, KAPI_USER_BYTES);
	return kunit_add_action_or_reset(test, unmap, buffer) ? 0 : (unsigned long)buffer;
}
