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
	typeof(x) __dividend = (x); \
	typeof(divisor) __divisor = (divisor); \
	(((typeof(x))-1) > 0 || ((typeof(divisor))-1) > 0 || \
	 ((__dividend > 0) == (__divisor > 0))) ? \
		(__dividend + __divisor / 2) / __divisor : \
		(__dividend - __divisor / 2) / __divisor; })
#define roundup(x, y) ({ \
	typeof(y) __to = (y); \
	((x) + (__to - 1)) / __to * __to; })
#define rounddown(x, y) ({ \
	typeof(x) __from = (x); \
	__from - __from % (y); })
#define mult_frac(x, n, d) ({ \
	typeof(x) __whole = (x) / (d); \
	typeof(x) __rest = (x) % (d); \
	__whole * (n) + __rest * (n) / (d); })
#define abs(x) ({ \
	typeof(x) __signed = (x); \
	__signed < 0 ? -__signed : __signed; })
#define abs64(x) abs((s64)(x))
#define abs_diff(a, b) ({ \
	typeof(a) __a = (a); \
	typeof(b) __b = (b); \
	__a > __b ? __a - __b : __b - __a; })

extern unsigned long int_sqrt(unsigned long x);

#endif
