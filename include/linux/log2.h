/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Powers of two. */
#ifndef _LINUX_LOG2_H
#define _LINUX_LOG2_H

#include <linux/bitops.h>

/* Constants of constants, so that they can be the size of an array. */
#define ilog2(n) (__builtin_constant_p(n) ? 63 - __builtin_clzll((n) | 1) : fls64(n) - 1)
#define roundup_pow_of_two(n) \
	(__builtin_constant_p(n) ? (n) <= 1 ? 1UL : 1UL << (64 - __builtin_clzll(((n) - 1) | 1)) : \
				   __roundup_pow_of_two(n))
#define rounddown_pow_of_two(n) (1UL << ilog2(n))

static inline __attribute_const__ bool is_power_of_2(unsigned long n) { return n != 0 && (n & (n - 1)) == 0; }

static inline __attribute_const__ unsigned long __roundup_pow_of_two(unsigned long n)
{
	return n <= 1 ? 1 : 1UL << fls64(n - 1);
}
#define order_base_2(n) ((n) > 1 ? ilog2((n) - 1) + 1 : 0)
#define bits_per(n) ((n) < 2 ? 1 : ilog2(n) + 1)

#endif
