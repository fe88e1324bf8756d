// SPDX-License-Identifier: MIT OR Apache-2.0
// Pools of a fixed number of objects.
#include "host.h"
#include <linux/bug.h>
#include <linux/kernel.h>
#include <linux/objpool.h>
#include <linux/string.h>
#include <linux/vmalloc.h>

int objpool_init(struct objpool_head *pool, int nr_objs, int object_size, gfp_t gfp, void *context,
		 objpool_init_obj_cb objinit, objpool_fini_cb release)
{
	size_t size = ALIGN((size_t)object_size, sizeof(long));
	int i, error;

	if (nr_objs <= 0 || object_size <= 0 || (size_t)nr_objs > INT_MAX / size)
		return -EINVAL;
	memset(pool, 0, sizeof(*pool));
	pool->kapi_stack = kvmalloc_array(nr_objs, sizeof(*pool->kapi_stack), gfp);
	pool->kapi_objects = kvmalloc_array(nr_objs, size, gfp | __GFP_ZERO);
	if (!pool->kapi_stack || !pool->kapi_objects) {
		error = -ENOMEM;
		goto give_back;
	}
	spin_lock_init(&pool->kapi_lock);
	pool->obj_size = object_size;
	pool->capacity = nr_objs;
	pool->gfp = gfp & ~__GFP_ZERO;
	pool->release = release;
	pool->context = context;
	for (i = 0; i < nr_objs; i++) {
		void *object = (char *)pool->kapi_objects + (size_t)i * size;

		error = objinit ? objinit(object, context) : 0;
		if (error)
			goto give_back;
		pool->kapi_stack[pool->kapi_free++] = object;
	}
	pool->nr_objs = nr_objs;
	/* Each object holds the pool, and so does its owner. */
	refcount_set(&pool->ref, nr_objs + 1);
	return 0;
give_back:
	kvfree(pool->kapi_objects);
	kvfree(pool->kapi_stack);
	memset(pool, 0, sizeof(*pool));
	return error;
}

void *objpool_pop(struct objpool_head *pool)
{
	return UNDER_LOCK(&pool->kapi_lock, pool->kapi_free ? pool->kapi_stack[--pool->kapi_free] : NULL);
}

static bool put(void *obj, struct objpool_head *pool)
{
	if (pool->kapi_free == pool->capacity)
		return false;
	pool->kapi_stack[pool->kapi_free++] = obj;
	return true;
}

int objpool_push(void *obj, struct objpool_head *pool)
{
	return UNDER_LOCK(&pool->kapi_lock, put(obj, pool)) ? 0 : -ENOENT;
}

void objpool_free(struct objpool_head *pool)
{
	if (!pool->kapi_stack)
		return;
	kvfree(pool->kapi_objects);
	kvfree(pool->kapi_stack);
	pool->kapi_objects = pool->kapi_stack = NULL;
	if (pool->release)
		pool->release(pool, pool->context);
}

int objpool_drop(void *obj, struct objpool_head *pool)
{
	if (!obj || !pool)
		return -EINVAL;
	if (!refcount_dec_and_test(&pool->ref))
		return -EAGAIN;
	objpool_free(pool);
	return 0;
}

void objpool_fini(struct objpool_head *pool)
{
	int back = 1;

	/* Those that are in the pool cannot be given back any more. */
	while (objpool_pop(pool))
		back++;
	if (refcount_sub_and_test(back, &pool->ref))
		objpool_free(pool);
}
