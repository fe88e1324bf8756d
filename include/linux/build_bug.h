/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Checks at compile time. */
#ifndef _LINUX_BUILD_BUG_H
#define _LINUX_BUILD_BUG_H

#include <linux/compiler.h>

#define BUILD_BUG_ON_ZERO(e) ((int)(sizeof(struct { int : (-!!(e)); })))
#define BUILD_BUG_ON_NULL(e) ((void *)sizeof(struct { int : (-!!(e)); }))
#define BUILD_BUG_ON_INVALID(e) ((void)(sizeof((long)(e))))
#define BUILD_BUG_ON_MSG(condition, message) \
	do { \
		extern void __kapi_build_bug(void) __attribute__((__error__(message))); \
		if (condition) \
			__kapi_build_bug(); \
	} while (0)
#define BUILD_BUG_ON(condition) BUILD_BUG_ON_MSG(condition, "BUILD_BUG_ON failed: " #condition)
#define BUILD_BUG_ON_NOT_POWER_OF_2(n) BUILD_BUG_ON((n) == 0 || (((n) & ((n) - 1)) != 0))
#define BUILD_BUG() BUILD_BUG_ON_MSG(1, "BUILD_BUG failed")
#define static_assert(expr, ...) __KAPI_STATIC_ASSERT(expr, ##__VA_ARGS__, #expr)
#define __KAPI_STATIC_ASSERT(expr, message, ...) _Static_assert(expr, message)

#endif
