/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Smaller, larger, between. Arguments are evaluated once. */
#ifndef _LINUX_MINMAX_H
#define _LINUX_MINMAX_H

#include <linux/compiler.h>

#define __kapi_pick(x, y, op) ({ \
	typeof(x) __x = (x); \
	typeof(y) __y = (y); \
	(void)(&__x == (typeof(__x) *)&__y); \
	__x op __y ? __x : __y; })
#define min(x, y) __kapi_pick(x, y, <)
#define max(x, y) __kapi_pick(x, y, >)
#define min_t(type, x, y) ({ \
	type __x = (x); \
	type __y = (y); \
	__x < __y ? __x : __y; })
#define max_t(type, x, y) ({ \
	type __x = (x); \
	type __y = (y); \
	__x > __y ? __x : __y; })
#define min3(x, y, z) min((typeof(x))min(x, y), z)
#define max3(x, y, z) max((typeof(x))max(x, y), z)
#define min_not_zero(x, y) ({ \
	typeof(x) __nx = (x); \
	typeof(y) __ny = (y); \
	__nx == 0 ? __ny : (__ny == 0 ? __nx : min(__nx, __ny)); })
#define clamp(value, low, high) min((typeof(value))max(value, low), high)
#define clamp_t(type, value, low, high) min_t(type, max_t(type, value, low), high)
#define clamp_val(value, low, high) clamp_t(typeof(value), value, low, high)
#define swap(a, b) \
	do { \
		typeof(a) __swapped = (a); \
		(a) = (b); \
		(b) = __swapped; \
	} while (0)

#endif
