/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * A fixed number of objects, allocated at once, which are taken and given back from any context. The pool goes when its owner
 * has given it up and the last object is back.
 *
 * Linux counterpart: include/linux/objpool.h @ 6.12. Difference: one stack behind a lock, where Linux has a ring for each CPU.
 */
#ifndef _LINUX_OBJPOOL_H
#define _LINUX_OBJPOOL_H

#include <linux/refcount.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/types.h>

struct objpool_head;

typedef int (*objpool_init_obj_cb)(void *obj, void *context);
typedef int (*objpool_fini_cb)(struct objpool_head *head, void *context);

struct objpool_head {
	int obj_size;
	int nr_objs;
	int capacity;
	gfp_t gfp;
	refcount_t ref;
	objpool_fini_cb release;
	void *context;
	spinlock_t kapi_lock;
	int kapi_free;
	void **kapi_stack;
	void *kapi_objects;
};

extern int objpool_init(struct objpool_head *pool, int nr_objs, int object_size, gfp_t gfp, void *context,
			objpool_init_obj_cb objinit, objpool_fini_cb release);
/* Return: an object, NULL if all are out. */
extern void *objpool_pop(struct objpool_head *pool);
extern int objpool_push(void *obj, struct objpool_head *pool);
/* Gives back an object of a pool that was given up. Return: -EAGAIN if others are out. */
extern int objpool_drop(void *obj, struct objpool_head *pool);
extern void objpool_free(struct objpool_head *pool);
/* Gives the pool up. */
extern void objpool_fini(struct objpool_head *pool);

#endif
