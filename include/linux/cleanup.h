/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * What ends with its scope: pointers that are freed, and locks that are let go, where a variable goes out.
 *
 * Linux counterpart: include/linux/cleanup.h @ 7.3, from whose documented use this header is written; the names
 * came with 6.5. The guards of a lock stand in the lock's own header.
 *
 *   DEFINE_FREE(name, type, statement about _T)     void *p __free(name) = ...;
 *   DEFINE_CLASS(name, type, exit, init, args...)   CLASS(name, variable)(args);
 *   DEFINE_GUARD(name, type, lock, unlock)          guard(name)(&lock);  scoped_guard(name, &lock) { ... }
 */
#ifndef _LINUX_CLEANUP_H
#define _LINUX_CLEANUP_H

#include <linux/compiler.h>
#include <linux/err.h>
#include <linux/types.h>

#define DEFINE_FREE(_name, _type, _free) \
	static __always_inline void __free_##_name(void *__kapi_at) \
	{ \
		_type _T = *(_type *)__kapi_at; \
		_free; \
	}
#define __free(_name) __cleanup(__free_##_name)

/* Takes a pointer out of its variable, which then has nothing to free. */
#define __get_and_null(p, nullvalue) ({ \
	__auto_type __kapi_slot = &(p); \
	__auto_type __kapi_taken = *__kapi_slot; \
	*__kapi_slot = nullvalue; \
	__kapi_taken; })
static __always_inline __must_check const volatile void *__kapi_must_use(const volatile void *p) { return p; }
#define no_free_ptr(p) ((typeof(p))__kapi_must_use((const volatile void *)__get_and_null(p, NULL)))
#define return_ptr(p) return no_free_ptr(p)
#define retain_and_null_ptr(p) ((void)__get_and_null(p, NULL))

#define DEFINE_CLASS(_name, _type, _exit, _init, _init_args...) \
	typedef _type class_##_name##_t; \
	static __always_inline void class_##_name##_destructor(_type *__kapi_at) \
	{ \
		_type _T = *__kapi_at; \
		_exit; \
	} \
	static __always_inline _type class_##_name##_constructor(_init_args) \
	{ \
		_type __kapi_new = _init; \
		return __kapi_new; \
	}
/* The same type and end, another beginning. */
#define EXTEND_CLASS(_name, _ext, _init, _init_args...) \
	typedef class_##_name##_t class_##_name##_ext##_t; \
	static __always_inline void class_##_name##_ext##_destructor(class_##_name##_t *__kapi_at) \
	{ \
		class_##_name##_destructor(__kapi_at); \
	} \
	static __always_inline class_##_name##_t class_##_name##_ext##_constructor(_init_args) \
	{ \
		class_##_name##_t __kapi_new = _init; \
		return __kapi_new; \
	}
#define CLASS(_name, variable) \
	class_##_name##_t variable __cleanup(class_##_name##_destructor) = class_##_name##_constructor

#define __KAPI_GUARD(_name, _conditional, _pointer) \
	enum { __kapi_conditional_##_name = (_conditional) }; \
	static __always_inline void *class_##_name##_lock_ptr(class_##_name##_t *_T) \
	{ \
		void *__kapi_lock = (void *)(_pointer); \
		return IS_ERR(__kapi_lock) ? NULL : __kapi_lock; \
	}
/* A guard is a class of which the variable is a pointer to the lock, NULL if the lock was not got. */
#define DEFINE_GUARD(_name, _type, _lock, _unlock) \
	DEFINE_CLASS(_name, _type, if (!IS_ERR_OR_NULL((void *)_T)) { _unlock; }, ({ _lock; _T; }), _type _T) \
	__KAPI_GUARD(_name, false, *_T)
#define DEFINE_GUARD_COND(_name, _ext, _condlock, ...) \
	EXTEND_CLASS(_name, _ext, ({ if (!(_condlock)) _T = NULL; _T; }), class_##_name##_t _T) \
	__KAPI_GUARD(_name##_ext, true, *_T)

#define guard(_name) CLASS(_name, __UNIQUE_ID(guard))
#define __guard_ptr(_name) class_##_name##_lock_ptr
#define scoped_guard(_name, args...) \
	for (CLASS(_name, __kapi_scope)(args), *__kapi_done = NULL; \
	     !__kapi_done && (!__kapi_conditional_##_name || class_##_name##_lock_ptr(&__kapi_scope)); \
	     __kapi_done = &__kapi_scope)
/* @_fail: what to do if the lock is not got. */
#define scoped_cond_guard(_name, _fail, args...) \
	for (CLASS(_name, __kapi_scope)(args), *__kapi_done = NULL; !__kapi_done; __kapi_done = &__kapi_scope) \
		if (!class_##_name##_lock_ptr(&__kapi_scope)) { \
			_fail; \
		} else

/* A guard that keeps something beside the lock (flags), or has no lock at all. */
#define __DEFINE_UNLOCK_GUARD(_name, _type, _unlock, ...) \
	typedef struct { \
		_type *lock; \
		__VA_ARGS__; \
	} class_##_name##_t; \
	static __always_inline void class_##_name##_destructor(class_##_name##_t *_T) \
	{ \
		if (!IS_ERR_OR_NULL(_T->lock)) { \
			_unlock; \
		} \
	} \
	__KAPI_GUARD(_name, false, _T->lock)
#define DEFINE_LOCK_GUARD_1(_name, _type, _lock, _unlock, ...) \
	__DEFINE_UNLOCK_GUARD(_name, _type, _unlock, __VA_ARGS__) \
	static __always_inline class_##_name##_t class_##_name##_constructor(_type *l) \
	{ \
		class_##_name##_t __kapi_new = { .lock = l }, *_T = &__kapi_new; \
		_lock; \
		return __kapi_new; \
	}
#define DEFINE_LOCK_GUARD_0(_name, _lock, _unlock, ...) \
	__DEFINE_UNLOCK_GUARD(_name, void, _unlock, __VA_ARGS__) \
	static __always_inline class_##_name##_t class_##_name##_constructor(void) \
	{ \
		class_##_name##_t __kapi_new = { .lock = (void *)1 }, *_T __maybe_unused = &__kapi_new; \
		_lock; \
		return __kapi_new; \
	}
#define DEFINE_LOCK_GUARD_1_COND(_name, _ext, _condlock, ...) \
	EXTEND_CLASS(_name, _ext, \
		     ({ class_##_name##_t __kapi_got = { .lock = l }, *_T = &__kapi_got; \
			if (!(_condlock)) \
				_T->lock = NULL; \
			__kapi_got; }), \
		     typeof(((class_##_name##_t *)0)->lock) l) \
	__KAPI_GUARD(_name##_ext, true, _T->lock)

#endif
