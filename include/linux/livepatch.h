/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Functions of a kernel that runs, replaced by those of a module.
 *
 * Difference from Linux: no call of an old function is waited for, and but for this module none is loaded, so that a patch of
 * another's functions waits for it. /sys/kernel/livepatch/NAME/enabled takes a 0.
 */
#ifndef _LINUX_LIVEPATCH_H
#define _LINUX_LIVEPATCH_H

#include <linux/completion.h>
#include <linux/kobject.h>
#include <linux/list.h>
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/workqueue.h>

struct klp_func {
	const char *old_name;
	void *new_func;
	unsigned long old_sympos;
	void *old_func;
	bool patched;
};

struct klp_object;
struct klp_callbacks {
	int (*pre_patch)(struct klp_object *obj);
	void (*post_patch)(struct klp_object *obj);
	void (*pre_unpatch)(struct klp_object *obj);
	void (*post_unpatch)(struct klp_object *obj);
	bool post_unpatch_enabled;
};

struct klp_object {
	/* NULL: the kernel itself. */
	const char *name;
	struct klp_func *funcs;
	struct klp_callbacks callbacks;
	struct module *mod;
	bool patched;
};

struct klp_state {
	unsigned long id;
	unsigned int version;
	void *data;
};

struct klp_patch {
	struct module *mod;
	struct klp_object *objs;
	struct klp_state *states;
	bool replace;
	struct list_head list;
	bool enabled;
	struct proc_dir_entry *kapi_folder;
};

#define klp_for_each_object_static(patch, obj) for (obj = (patch)->objs; obj->funcs || obj->name; obj++)
#define klp_for_each_func_static(obj, func) \
	for (func = (obj)->funcs; func->old_name || func->new_func || func->old_sympos; func++)

/* -ENOENT: the kernel has no such function. */
extern int klp_enable_patch(struct klp_patch *patch);

/* Data beside an object, by the object's address and a number. */
typedef int (*klp_shadow_ctor_t)(void *obj, void *shadow_data, void *ctor_data);
typedef void (*klp_shadow_dtor_t)(void *obj, void *shadow_data);
extern void *klp_shadow_get(void *obj, unsigned long id);
/* NULL if there is one. */
extern void *klp_shadow_alloc(void *obj, unsigned long id, size_t size, gfp_t gfp, klp_shadow_ctor_t ctor, void *ctor_data);
extern void *klp_shadow_get_or_alloc(void *obj, unsigned long id, size_t size, gfp_t gfp, klp_shadow_ctor_t ctor,
				     void *ctor_data);
extern void klp_shadow_free(void *obj, unsigned long id, klp_shadow_dtor_t dtor);
extern void klp_shadow_free_all(unsigned long id, klp_shadow_dtor_t dtor);

#endif
