/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* 64-bit division: plain on a 64-bit machine. */
#ifndef _LINUX_MATH64_H
#define _LINUX_MATH64_H

#include <linux/types.h>
#include <linux/math.h>

static inline u64 div_u64_rem(u64 dividend, u32 divisor, u32 *remainder)
{
	*remainder = (u32)(dividend % divisor);
	return dividend / divisor;
}

static inline s64 div_s64_rem(s64 dividend, s32 divisor, s32 *remainder)
{
	*remainder = (s32)(dividend % divisor);
	return dividend / divisor;
}

static inline u64 div64_u64_rem(u64 dividend, u64 divisor, u64 *remainder)
{
	*remainder = dividend % divisor;
	return dividend / divisor;
}

static inline u64 div64_u64(u64 dividend, u64 divisor) { return dividend / divisor; }
static inline s64 div64_s64(s64 dividend, s64 divisor) { return dividend / divisor; }
static inline u64 div_u64(u64 dividend, u32 divisor) { return dividend / divisor; }
static inline s64 div_s64(s64 dividend, s32 divisor) { return dividend / divisor; }
#define div64_ul(x, y) div64_u64((x), (y))
#define div64_long(x, y) div64_s64((x), (y))

static inline u64 mul_u64_u32_shr(u64 a, u32 mul, unsigned int shift)
{
	return (u64)(((unsigned __int128)a * mul) >> shift);
}

static inline u64 mul_u64_u64_shr(u64 a, u64 mul, unsigned int shift)
{
	return (u64)(((unsigned __int128)a * mul) >> shift);
}

static inline u64 mul_u32_u32(u32 a, u32 b) { return (u64)a * b; }
static inline u64 add_u64_u32(u64 a, u32 b) { return a + b; }

/* (@a * @mul + @c) / @div, of which the product has 128 bits; ~0 for a quotient of more than 64. */
static inline u64 mul_u64_add_u64_div_u64(u64 a, u64 mul, u64 c, u64 div)
{
	unsigned __int128 n = (unsigned __int128)a * mul + c;
	u64 quotient = 0, rest = 0;
	int bit;

	if ((u64)(n >> 64) >= div)
		return div ? ~0ULL : (u64)n / div;
	/* By hand, since a module is not linked with the compiler's own library. */
	for (bit = 127; bit >= 0; bit--) {
		bool carry = rest >> 63;

		rest = rest << 1 | (u64)(n >> bit & 1);
		quotient <<= 1;
		if (carry || rest >= div) {
			rest -= div;
			quotient |= 1;
		}
	}
	return quotient;
}
#define mul_u64_u64_div_u64(a, mul, div) mul_u64_add_u64_div_u64(a, mul, 0, div)
#define mul_u64_u64_div_u64_roundup(a, mul, div) ({ \
	u64 __kapi_div = (div); \
	mul_u64_add_u64_div_u64(a, mul, __kapi_div - 1, __kapi_div); })

#endif
