/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Prime numbers.
 *
 * Linux counterpart: include/linux/prime_numbers.h @ 6.12. Difference from Linux: no table of them is kept.
 */
#ifndef _LINUX_PRIME_NUMBERS_H
#define _LINUX_PRIME_NUMBERS_H

#include <linux/types.h>

extern bool is_prime_number(unsigned long x);
/* The first beyond a number. */
extern unsigned long next_prime_number(unsigned long x);

#define for_each_prime_number_from(prime, from, max) \
	for (prime = (from) < 2 ? 2 : next_prime_number((from) - 1); prime <= (max); prime = next_prime_number(prime))
#define for_each_prime_number(prime, max) for_each_prime_number_from(prime, 2, max)

#endif
