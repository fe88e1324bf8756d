/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The fraction with a small numerator and denominator that is nearest to another one.
 *
 * Linux counterpart: include/linux/rational.h @ 6.12. */
#ifndef _LINUX_RATIONAL_H
#define _LINUX_RATIONAL_H

extern void rational_best_approximation(unsigned long given_numerator, unsigned long given_denominator,
					unsigned long max_numerator, unsigned long max_denominator,
					unsigned long *best_numerator, unsigned long *best_denominator);

#endif
