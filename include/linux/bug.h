/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* BUG() and WARN(): BUG ends the module's run and names its place; WARN says so and goes on. */
#ifndef _LINUX_BUG_H
#define _LINUX_BUG_H

#include <linux/build_bug.h>
#include <linux/types.h>
#include <linux/compiler.h>

/**
 * kapi_bug - report "kernel BUG at FILE:LINE!" and end the run
 */
extern void kapi_bug(const char *file, int line) __noreturn;

/**
 * kapi_warn - log a WARNING with its place; @fmt may be NULL
 */
extern void kapi_warn(const char *file, int line, const char *function, const char *fmt, ...);

#define BUG() kapi_bug(__FILE__, __LINE__)
#define BUG_ON(condition) \
	do { \
		if (unlikely(condition)) \
			BUG(); \
	} while (0)

#define WARN(condition, format...) ({ \
	int __kapi_warned = !!(condition); \
	if (unlikely(__kapi_warned)) \
		kapi_warn(__FILE__, __LINE__, __func__, format); \
	unlikely(__kapi_warned); })
#define WARN_ON(condition) ({ \
	int __kapi_warned = !!(condition); \
	if (unlikely(__kapi_warned)) \
		kapi_warn(__FILE__, __LINE__, __func__, NULL); \
	unlikely(__kapi_warned); })
#define WARN_ONCE(condition, format...) ({ \
	static bool __kapi_once; \
	int __kapi_warned_once = !!(condition); \
	if (unlikely(__kapi_warned_once && !__kapi_once)) { \
		__kapi_once = true; \
		kapi_warn(__FILE__, __LINE__, __func__, format); \
	} \
	unlikely(__kapi_warned_once); })
#define WARN_ON_ONCE(condition) ({ \
	static bool __kapi_once; \
	int __kapi_warned_once = !!(condition); \
	if (unlikely(__kapi_warned_once && !__kapi_once)) { \
		__kapi_once = true; \
		kapi_warn(__FILE__, __LINE__, __func__, NULL); \
	} \
	unlikely(__kapi_warned_once); })
#define WARN_ON_SMP(condition) WARN_ON(condition)

#endif
