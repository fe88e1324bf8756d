/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Smaller, larger, between. Arguments are evaluated once. */
#ifndef _LINUX_MINMAX_H
#define _LINUX_MINMAX_H

#include <linux/compiler.h>

/* A constant of constants; everything else is evaluated once. */
#define __kapi_pick(x, y, op) \
	__builtin_choose_expr(__builtin_constant_p((x) op (y)), (x) op (y) ? (x) : (y), ({ \
		typeof(x) __kapi_x = (x); \
		typeof(y) __kapi_y = (y); \
		__kapi_x op __kapi_y ? __kapi_x : __kapi_y; }))
#define min(x, y) __kapi_pick(x, y, <)
#define max(x, y) __kapi_pick(x, y, >)
#define min_t(type, x, y) ({ \
	type __kapi_x = (x); \
	type __kapi_y = (y); \
	__kapi_x < __kapi_y ? __kapi_x : __kapi_y; })
#define max_t(type, x, y) ({ \
	type __kapi_x = (x); \
	type __kapi_y = (y); \
	__kapi_x > __kapi_y ? __kapi_x : __kapi_y; })
#define min3(x, y, z) min((typeof(x))min(x, y), z)
#define max3(x, y, z) max((typeof(x))max(x, y), z)
#define min_not_zero(x, y) ({ \
	typeof(x) __kapi_nx = (x); \
	typeof(y) __kapi_ny = (y); \
	__kapi_nx == 0 ? __kapi_ny : (__kapi_ny == 0 ? __kapi_nx : min(__kapi_nx, __kapi_ny)); })
#define clamp(value, low, high) min((typeof(value))max(value, low), high)
#define clamp_t(type, value, low, high) min_t(type, max_t(type, value, low), high)
#define clamp_val(value, low, high) clamp_t(typeof(value), value, low, high)
#define swap(a, b) do { typeof(a) __kapi_swapped = (a); (a) = (b); (b) = __kapi_swapped; } while (0)

#endif
