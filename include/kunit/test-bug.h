/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * For code that is tested: which case runs in this thread, and how to make it fail.
 *
 * Linux counterpart: include/kunit/test-bug.h @ 6.12.
 */
#ifndef _KUNIT_TEST_BUG_H
#define _KUNIT_TEST_BUG_H

#include <linux/sched.h>
#include <linux/types.h>

struct kunit;

extern void kapi_kunit_fail(struct kunit *test, bool stop, const char *file, int line, const char *expected,
			    const long long *found, const char *fmt, ...);

static inline struct kunit *kunit_get_current_test(void) { return current->kunit_test; }
#define kunit_fail_current_test(fmt, ...) \
	do { \
		if (kunit_get_current_test()) \
			kapi_kunit_fail(kunit_get_current_test(), false, __FILE__, __LINE__, "no bug", NULL, fmt, \
					##__VA_ARGS__); \
	} while (0)

#endif
