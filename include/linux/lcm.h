/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The least common multiple.
 *
 * Linux counterpart: include/linux/lcm.h @ 6.12. */
#ifndef _LINUX_LCM_H
#define _LINUX_LCM_H

#include <linux/gcd.h>

/* 0 if one of them is. */
static inline unsigned long lcm(unsigned long a, unsigned long b) { return a && b ? a / gcd(a, b) * b : 0; }
/* The other one if one of them is 0. */
static inline unsigned long lcm_not_zero(unsigned long a, unsigned long b) { return lcm(a, b) ?: (b ?: a); }

#endif
