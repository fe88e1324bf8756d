/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Functions that a test replaces: one that begins with KUNIT_STATIC_STUB_REDIRECT(its name, its arguments) hands over to
 * the replacement while a case that asked for it runs in this thread.
 *
 * Linux counterpart: include/kunit/static_stub.h @ 6.4.
 */
#ifndef _KUNIT_STATIC_STUB_H
#define _KUNIT_STATIC_STUB_H

#include <kunit/test-bug.h>
#include <linux/compiler.h>

extern void *kapi_kunit_stub(struct kunit *test, void *real);
extern void __kunit_activate_static_stub(struct kunit *test, void *real, void *replacement);
extern void kunit_deactivate_static_stub(struct kunit *test, void *real);

#define KUNIT_STATIC_STUB_REDIRECT(name, args...) \
	do { \
		typeof(&name) __kapi_stub = (typeof(&name))kapi_kunit_stub(kunit_get_current_test(), (void *)&name); \
		if (unlikely(__kapi_stub)) \
			return __kapi_stub(args); \
	} while (0)
#define kunit_activate_static_stub(test, name, replacement) \
	do { \
		typeof(&name) __kapi_same_type __maybe_unused = replacement; \
		__kunit_activate_static_stub(test, (void *)name, (void *)replacement); \
	} while (0)

#endif
