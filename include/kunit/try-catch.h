/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* A function that may be left in the middle: kunit_try_catch_throw() goes on with what is to be done then.
 *
 * Difference: it runs in the caller's thread, where Linux makes one. */
#ifndef _KUNIT_TRY_CATCH_H
#define _KUNIT_TRY_CATCH_H

#include <linux/compiler.h>
#include <linux/types.h>

typedef void (*kunit_try_catch_func_t)(void *context);

struct kunit;

struct kunit_try_catch {
	struct kunit *test;
	int try_result;
	kunit_try_catch_func_t try;
	kunit_try_catch_func_t catch;
	/* In jiffies; not looked at. */
	unsigned long timeout;
	void *context;
	/* Where to go on. */
	void *kapi_end[5];
};

extern void kunit_try_catch_run(struct kunit_try_catch *try_catch, void *context);
extern void __noreturn kunit_try_catch_throw(struct kunit_try_catch *try_catch);

#endif
