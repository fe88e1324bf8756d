/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The greatest common divisor.
 *
 * Linux counterpart: include/linux/gcd.h @ 6.12. */
#ifndef _LINUX_GCD_H
#define _LINUX_GCD_H

static inline unsigned long gcd(unsigned long a, unsigned long b)
{
	while (b) {
		unsigned long rest = a % b;

		a = b;
		b = rest;
	}
	return a;
}

#endif
