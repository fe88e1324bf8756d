/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Polynomials with integer coefficients: the sum of coef * x^deg, each multiplication by x divided by divider, a
 * term at its end by divider_leftover, the sum by total_divider. The last term is that of degree 0.
 *
 * Linux counterpart: include/linux/polynomial.h @ 7.3. */
#ifndef _LINUX_POLYNOMIAL_H
#define _LINUX_POLYNOMIAL_H

struct polynomial_term {
	unsigned int deg;
	long coef;
	long divider;
	long divider_leftover;
};

struct polynomial {
	long total_divider;
	struct polynomial_term terms[];
};

extern long polynomial_calc(const struct polynomial *poly, long data);

#endif
