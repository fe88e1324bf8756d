/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The lock validator's annotations: the host tells classes of locks apart (check level 2).
 *
 * A lock's class is the place that initialises it; what no place does is of a class of its own. */
#ifndef _LINUX_LOCKDEP_H
#define _LINUX_LOCKDEP_H

#include <linux/types.h>

struct lock_class_key {
	char unused;
};
struct lockdep_map {
	char unused;
};

/* How a lock is taken, with the subclass in the low bits. */
enum kapi_lock_how {
	/* Its readers can take it again, and each other's. */
	KAPI_LOCK_READS = 0x100,
	/* A lock that is held keeps apart those who take several of the class. */
	KAPI_LOCK_NESTED = 0x200
};

/* Without a key the class stays, and the subclass is another. */
extern void kapi_lock_class(const volatile void *lock, const void *key, const char *name, unsigned int subclass);

/* The runtime's own locks are not told. */
#ifdef KAPI_RUNTIME
#define __kapi_lock_init(lock, name) ((void)(lock))
#else
#define __kapi_lock_init(lock, name) \
	do { \
		static struct lock_class_key __key; \
		kapi_lock_class(lock, &__key, name, 0); \
	} while (0)
#endif

#define lockdep_assert_held(lock) ((void)(lock))
#define lockdep_assert_held_once(lock) ((void)(lock))
#define lockdep_assert_held_write(lock) ((void)(lock))
#define lockdep_assert_held_read(lock) ((void)(lock))
#define lockdep_assert_not_held(lock) ((void)(lock))
#define lockdep_is_held(lock) 1
#define lockdep_set_class(lock, key) kapi_lock_class(lock, key, #key, 0)
#define lockdep_set_class_and_name(lock, key, name) kapi_lock_class(lock, key, name, 0)
#define lockdep_set_class_and_subclass(lock, key, sub) kapi_lock_class(lock, key, #key, sub)
#define lockdep_set_subclass(lock, sub) kapi_lock_class(lock, NULL, NULL, sub)
#define lockdep_register_key(key) ((void)(key))
#define lockdep_unregister_key(key) ((void)(key))
#define lockdep_init_map(map, name, key, sub) ((void)(map), (void)(key))
#define lock_is_held(map) 1
#define SINGLE_DEPTH_NESTING 1

#endif
