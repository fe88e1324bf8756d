/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The life of objects, followed by calls of whoever makes them: what is used before it is initialised, initialised while
 * it is in use, or freed while it is in use, is told.
 *
 * How it works: an object is known by its address, from its first call to debug_object_free() or until the memory is freed
 * that it lies in. A wrong call prints what Linux prints, is a finding, and calls the description's function that can
 * mend it.
 *
 * Linux counterpart: include/linux/debugobjects.h @ 6.12, with CONFIG_DEBUG_OBJECTS and CONFIG_DEBUG_OBJECTS_FREE.
 * Difference: the number of objects has no limit, and no messages are left out.
 */
#ifndef _LINUX_DEBUGOBJECTS_H
#define _LINUX_DEBUGOBJECTS_H

#include <linux/list.h>
#include <linux/spinlock.h>
#include <linux/types.h>
#include <linux/version.h>

enum debug_obj_state {
	ODEBUG_STATE_NONE,
	ODEBUG_STATE_INIT,
	ODEBUG_STATE_INACTIVE,
	ODEBUG_STATE_ACTIVE,
	ODEBUG_STATE_DESTROYED,
	ODEBUG_STATE_NOTAVAILABLE,
	ODEBUG_STATE_MAX,
};

/* What a function that mends returns: whether it did. A number before 4.7. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(4, 7, 0)
typedef int kapi_mended_t;
#else
typedef bool kapi_mended_t;
#endif

struct debug_obj_descr {
	const char *name;
	void *(*debug_hint)(void *addr);
	bool (*is_static_object)(void *addr);
	kapi_mended_t (*fixup_init)(void *addr, enum debug_obj_state state);
	kapi_mended_t (*fixup_activate)(void *addr, enum debug_obj_state state);
	kapi_mended_t (*fixup_destroy)(void *addr, enum debug_obj_state state);
	kapi_mended_t (*fixup_free)(void *addr, enum debug_obj_state state);
	kapi_mended_t (*fixup_assert_init)(void *addr, enum debug_obj_state state);
};

extern void debug_object_init(void *addr, const struct debug_obj_descr *descr);
extern void debug_object_init_on_stack(void *addr, const struct debug_obj_descr *descr);
/* Return: 0, or -EINVAL if the object cannot be used. */
extern int debug_object_activate(void *addr, const struct debug_obj_descr *descr);
extern void debug_object_deactivate(void *addr, const struct debug_obj_descr *descr);
extern void debug_object_destroy(void *addr, const struct debug_obj_descr *descr);
extern void debug_object_free(void *addr, const struct debug_obj_descr *descr);
extern void debug_object_assert_init(void *addr, const struct debug_obj_descr *descr);
/* From a state of the caller's own, while the object is active, to another one. */
extern void debug_object_active_state(void *addr, const struct debug_obj_descr *descr, unsigned int expect,
				      unsigned int next);
/* Before memory is freed that is no object of the allocator. */
extern void debug_check_no_obj_freed(const void *address, unsigned long size);
static inline void debug_objects_early_init(void) { }
static inline void debug_objects_mem_init(void) { }

#endif
