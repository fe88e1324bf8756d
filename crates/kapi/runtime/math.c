// SPDX-License-Identifier: MIT OR Apache-2.0
// Powers, fractions and polynomials.
#include <linux/kernel.h>
#include <linux/math.h>
#include <linux/polynomial.h>
#include <linux/rational.h>

u64 int_pow(u64 base, unsigned int exp)
{
	u64 power = 1;

	for (; exp; exp >>= 1, base *= base)
		if (exp & 1)
			power *= base;
	return power;
}

/* How often `step` can be added to `have` without passing `max`. */
static unsigned long room(unsigned long max, unsigned long have, unsigned long step)
{
	return step ? (max - have) / step : ULONG_MAX;
}

/*
 * The convergents of the continued fraction, until one is too large. Between the last and that one lie those
 * with a smaller last quotient; the largest that fits is nearer than the last convergent if its quotient is more
 * than half, or half and the fractions behind say so (Khinchin, "Continued fractions", 6).
 */
void rational_best_approximation(unsigned long given_numerator, unsigned long given_denominator,
				 unsigned long max_numerator, unsigned long max_denominator,
				 unsigned long *best_numerator, unsigned long *best_denominator)
{
	unsigned long n = given_numerator, d = given_denominator, last_d = 0;
	unsigned long n0 = 0, d0 = 1, n1 = 1, d1 = 0;

	while (d) {
		unsigned long quotient = n / d, rest = n % d;
		unsigned long most = min(room(max_numerator, n0, n1), room(max_denominator, d0, d1));

		if (quotient > most) {
			bool nearer = most > quotient - most || (most == quotient - most && d0 * last_d > d1 * d);

			if (!d1 || nearer) {
				n1 = n0 + most * n1;
				d1 = d0 + most * d1;
			}
			break;
		}
		swap(n0, n1);
		swap(d0, d1);
		n1 += quotient * n0;
		d1 += quotient * d0;
		last_d = n = d;
		d = rest;
	}
	*best_numerator = n1;
	*best_denominator = d1;
}

long polynomial_calc(const struct polynomial *poly, long data)
{
	const struct polynomial_term *term = poly->terms;
	long sum = 0;

	do {
		long value = term->coef;
		unsigned int deg;

		for (deg = 0; deg < term->deg; deg++)
			value = mult_frac(value, data, term->divider);
		sum += value / term->divider_leftover;
	} while ((term++)->deg);
	return sum / (poly->total_divider ?: 1);
}
