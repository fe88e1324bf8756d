// SPDX-License-Identifier: GPL-2.0-only
/*
 * slubkunit: Linux's own slub_kunit, as a module, also for SLUB_TINY
 *
 * Built in, Linux's test skips what needs kfree_rcu(); and its configuration
 * wants SLUB_DEBUG, which SLUB_TINY excludes. Each tree's own test is compiled
 * here, found next to its headers. Without SLUB_DEBUG nothing validates a cache,
 * so that only the tests that do not damage one mean something: choose them by
 * kunit.filter_glob.
 */
#ifndef CONFIG_SLUB_DEBUG
struct kmem_cache;
static inline long validate_slab_cache(struct kmem_cache *s)
{
	return 0;
}
#endif
#if __has_include(<../lib/tests/slub_kunit.c>)
#include <../lib/tests/slub_kunit.c>
#else
#include <../lib/slub_kunit.c>
#endif
