// SPDX-License-Identifier: MIT OR Apache-2.0
// Powers, fractions, polynomials, logarithms and primes.
#include <linux/int_log.h>
#include <linux/kernel.h>
#include <linux/math.h>
#include <linux/polynomial.h>
#include <linux/libgcc.h>
#include <linux/prandom.h>
#include <linux/prime_numbers.h>
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

/* 2^16 times the logarithm of 1 + i/256: each square doubles it, and what passes 2 is the next binary digit. */
static u32 log2_point(u32 i)
{
	u64 x = (u64)(256 + i) << 23;
	u32 log = 0, digit;

	if (i == 256)
		return 1U << 16;
	for (digit = 0; digit < 17; digit++) {
		x = x * x >> 31;
		log = log << 1 | (u32)(x >> 32);
		x >>= x >> 32;
	}
	return (log + 1) >> 1;
}

unsigned int intlog2(u32 value)
{
	u32 digits, point, rest, low;

	if (!value)
		return 0;
	digits = (u32)fls(value) - 1;
	value <<= 31 - digits;
	point = value >> 23 & 0xff;
	rest = value & 0x7fffff;
	low = log2_point(point);
	return (digits << 24) + (low << 8) + (u32)((u64)rest * (log2_point(point + 1) - low) >> 15);
}

/* By the logarithm of 2 to 10, times 2^31. */
unsigned int intlog10(u32 value) { return (unsigned int)((u64)intlog2(value) * 646456993U >> 31); }

bool is_prime_number(unsigned long x)
{
	unsigned long d;

	if (x < 4 || x % 2 == 0)
		return x == 2 || x == 3;
	for (d = 3; d <= x / d; d += 2)
		if (x % d == 0)
			return false;
	return true;
}

/* None beyond the last prime of a word: then the largest number. */
unsigned long next_prime_number(unsigned long x)
{
	while (x < ULONG_MAX && !is_prime_number(++x))
		;
	return x;
}

/* For tests of primes: by division, and as a table of a word's primes. */
bool slow_is_prime_number(unsigned long x)
{
	unsigned long divisor;

	for (divisor = 2; divisor * divisor <= x; divisor++)
		if (x % divisor == 0)
			return false;
	return x > 1;
}

/* As lib/math/prime_numbers_private.h has it. */
struct primes {
	struct callback_head rcu;
	unsigned long last, sz, primes[1];
};

void with_primes(void *ctx, void (*fn)(void *, const struct primes *))
{
	struct primes word = { .sz = BITS_PER_LONG };
	unsigned long prime;

	for_each_prime_number(prime, BITS_PER_LONG - 1) {
		word.primes[0] |= 1UL << prime;
		word.last = prime;
	}
	fn(ctx, &word);
}

void prandom_warmup(struct rnd_state *state)
{
	int i;

	for (i = 0; i < 10; i++)
		prandom_u32_state(state);
}

long long __ashldi3(long long u, word_type b) { return (long long)((unsigned long long)u << b); }
long long __ashrdi3(long long u, word_type b) { return u >> b; }
long long __lshrdi3(long long u, word_type b) { return (long long)((unsigned long long)u >> b); }
