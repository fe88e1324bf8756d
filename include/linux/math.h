/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Rounding and division. */
#ifndef _LINUX_MATH_H
#define _LINUX_MATH_H

#include <linux/types.h>

#define __round_mask(x, y) ((typeof(x))((y) - 1))
#define round_up(x, y) ((((x) - 1) | __round_mask(x, y)) + 1)
#define round_down(x, y) ((x) & ~__round_mask(x, y))
#define DIV_ROUND_UP(n, d) (((n) + (d) - 1) / (d))
#define DIV_ROUND_UP_ULL(n, d) DIV_ROUND_UP((unsigned long long)(n), (unsigned long long)(d))
#define DIV_ROUND_DOWN_ULL(n, d) ((unsigned long long)(n) / (d))
#define DIV_ROUND_CLOSEST(x, divisor) ({ \
	typeof(x) __kapi_dividend = (x); \
	typeof(divisor) __kapi_divisor = (divisor); \
	(((typeof(x))-1) > 0 || ((typeof(divisor))-1) > 0 || \
	 ((__kapi_dividend > 0) == (__kapi_divisor > 0))) ? \
		(__kapi_dividend + __kapi_divisor / 2) / __kapi_divisor : \
		(__kapi_dividend - __kapi_divisor / 2) / __kapi_divisor; })
#define roundup(x, y) ({ \
	typeof(y) __kapi_to = (y); \
	((x) + (__kapi_to - 1)) / __kapi_to * __kapi_to; })
#define rounddown(x, y) ({ \
	typeof(x) __kapi_from = (x); \
	__kapi_from - __kapi_from % (y); })
#define mult_frac(x, n, d) ({ \
	typeof(x) __kapi_whole = (x) / (d); \
	typeof(x) __kapi_rest = (x) % (d); \
	__kapi_whole * (n) + __kapi_rest * (n) / (d); })
/* Of the signed type of that size: abs() of the difference of two unsigned numbers is their distance. */
#define abs(x) ({ \
	typeof(_Generic((x) + 0, unsigned int: 0, unsigned long: 0L, unsigned long long: 0LL, \
			default: (x) + 0)) __kapi_number = (x); \
	__kapi_number < 0 ? -__kapi_number : __kapi_number; })
#define abs64(x) abs((s64)(x))
#define abs_diff(a, b) ({ \
	typeof(a) __kapi_a = (a); \
	typeof(b) __kapi_b = (b); \
	__kapi_a > __kapi_b ? __kapi_a - __kapi_b : __kapi_b - __kapi_a; })

extern unsigned long int_sqrt(unsigned long x);
extern u64 int_pow(u64 base, unsigned int exp);

#endif
