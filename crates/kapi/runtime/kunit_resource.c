// SPDX-License-Identifier: MIT OR Apache-2.0
// What KUnit's cases have and find again: data, memory, functions to call in the end.
#include "host.h"
#include <kunit/resource.h>
#include <kunit/test.h>
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
	spin_lock(&test->lock);
	list_add_tail(&res->node, &test->resources);
	spin_unlock(&test->lock);
	return 0;
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

struct kunit_resource *kunit_alloc_and_get_resource(struct kunit *test, kunit_resource_init_t init,
						    kunit_resource_free_t free, gfp_t gfp, void *context)
{
	struct kunit_resource *res = kzalloc(sizeof(*res), gfp);

	if (!res)
		return NULL;
	res->should_kfree = true;
	if (add(test, init, free, res, context))
		return NULL;
	kunit_get_resource(res);
	return res;
}

void *kunit_alloc_resource(struct kunit *test, kunit_resource_init_t init, kunit_resource_free_t free, gfp_t gfp,
			   void *context)
{
	struct kunit_resource *res = kunit_alloc_and_get_resource(test, init, free, gfp, context);
	void *data = res ? res->data : NULL;

	if (res)
		kunit_put_resource(res);
	return data;
}

bool kunit_resource_name_match(struct kunit *test, struct kunit_resource *res, void *match_name)
{
	return res->name && !strcmp(res->name, match_name);
}

struct kunit_resource *kunit_find_resource(struct kunit *test, kunit_resource_match_t match, void *match_data)
{
	struct kunit_resource *res, *found = NULL;

	spin_lock(&test->lock);
	list_for_each_entry_reverse(res, &test->resources, node)
		if (match(test, res, match_data)) {
			kunit_get_resource(res);
			found = res;
			break;
		}
	spin_unlock(&test->lock);
	return found;
}

struct kunit_resource *kunit_find_named_resource(struct kunit *test, const char *name)
{
	return kunit_find_resource(test, kunit_resource_name_match, (void *)name);
}

void kunit_remove_resource(struct kunit *test, struct kunit_resource *res)
{
	bool has;

	spin_lock(&test->lock);
	has = !list_empty(&res->node);
	list_del_init(&res->node);
	spin_unlock(&test->lock);
	if (has)
		kunit_put_resource(res);
}

void kunit_cleanup(struct kunit *test)
{
	/* What is given back may give back others, and get some. */
	while (!list_empty(&test->resources))
		kunit_remove_resource(test, list_last_entry(&test->resources, struct kunit_resource, node));
}

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

/* What a case wants done when it is over. */
struct action {
	struct kunit_resource res;
	kunit_action_t *call;
	void *data;
};

static void act(struct kunit_resource *res)
{
	struct action action = *container_of(res, struct action, res);

	kapi_free(container_of(res, struct action, res), sizeof(struct action));
	if (action.call)
		action.call(action.data);
}

int kunit_add_action(struct kunit *test, kunit_action_t *call, void *data)
{
	struct action *action = kapi_alloc(sizeof(*action));

	if (!action)
		return -ENOMEM;
	memset(action, 0, sizeof(*action));
	action->call = call;
	action->data = data;
	return add(test, NULL, act, &action->res, NULL);
}

int kunit_add_action_or_reset(struct kunit *test, kunit_action_t *call, void *data)
{
	int error = kunit_add_action(test, call, data);

	if (error)
		call(data);
	return error;
}

static bool is_action(struct kunit *test, struct kunit_resource *res, void *wanted)
{
	struct action *action = container_of(res, struct action, res), *other = wanted;

	return res->free == act && action->call == other->call && action->data == other->data;
}

/* Takes the newest such action off; it is called if @call_it. */
static void end_action(struct kunit *test, kunit_action_t *call, void *data, bool call_it)
{
	struct action wanted = { .call = call, .data = data };
	struct kunit_resource *res = kunit_find_resource(test, is_action, &wanted);

	if (!res)
		return;
	if (!call_it)
		container_of(res, struct action, res)->call = NULL;
	kunit_remove_resource(test, res);
	kunit_put_resource(res);
}

void kunit_remove_action(struct kunit *test, kunit_action_t *call, void *data) { end_action(test, call, data, false); }
void kunit_release_action(struct kunit *test, kunit_action_t *call, void *data) { end_action(test, call, data, true); }

KUNIT_DEFINE_ACTION_WRAPPER(free_memory, kfree, const void *)

void *kunit_kmalloc_array(struct kunit *test, size_t n, size_t size, gfp_t gfp)
{
	void *memory = kmalloc_array(n, size, gfp);

	return memory && !kunit_add_action_or_reset(test, free_memory, memory) ? memory : NULL;
}

void kunit_kfree(struct kunit *test, const void *ptr)
{
	if (ptr)
		kunit_release_action(test, free_memory, (void *)ptr);
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
