/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The lock validator's annotations; there is no validator here. */
#ifndef _LINUX_LOCKDEP_H
#define _LINUX_LOCKDEP_H

#include <linux/types.h>

struct lock_class_key {
	char unused;
};
struct lockdep_map {
	char unused;
};

#define lockdep_assert_held(lock) ((void)(lock))
#define lockdep_assert_held_once(lock) ((void)(lock))
#define lockdep_is_held(lock) 1
#define lockdep_set_class(lock, key) ((void)(lock), (void)(key))
#define lockdep_init_map(map, name, key, sub) ((void)(map), (void)(key))
#define lock_is_held(map) 1
#define SINGLE_DEPTH_NESTING 1

#endif
