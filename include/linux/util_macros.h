/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Finding the nearest value in a sorted array.
 *
 * Linux counterpart: include/linux/util_macros.h @ 7.3. */
#ifndef _LINUX_UTIL_MACROS_H
#define _LINUX_UTIL_MACROS_H

#include <linux/kernel.h>

/* The index of the value nearest to @x of the @n in @array, the lower value of two as near. @before: how a value
 * that is passed stands to @x; @nearer: how the distance of a value at which to stop stands to that of the next. */
#define __KAPI_CLOSEST(x, array, n, before, nearer) ({ \
	typeof(array) __kapi_array = (array); \
	int __kapi_n = (int)(n), __kapi_at = 0; \
	long __kapi_x = (x); \
	for (; __kapi_at < __kapi_n - 1; __kapi_at++) { \
		long __kapi_this = (long)__kapi_array[__kapi_at]; \
		long __kapi_next = (long)__kapi_array[__kapi_at + 1]; \
		if (!(__kapi_next before __kapi_x) && \
		    abs(__kapi_x - __kapi_this) nearer abs(__kapi_next - __kapi_x)) \
			break; \
	} \
	__kapi_at; })
#define find_closest(x, a, as) __KAPI_CLOSEST(x, &(a)[0], as, <, <=)
#define find_closest_descending(x, a, as) __KAPI_CLOSEST(x, &(a)[0], as, >, <)

#define is_insidevar(ptr, var) \
	((uintptr_t)(ptr) >= (uintptr_t)&(var) && (uintptr_t)(ptr) < (uintptr_t)&(var) + sizeof(var))

#endif
