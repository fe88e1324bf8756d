/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Bob Jenkins' lookup3 (public domain). */
#ifndef _LINUX_JHASH_H
#define _LINUX_JHASH_H

#include <linux/bitops.h>
#include <linux/types.h>

#define JHASH_INITVAL 0xdeadbeef

static inline u32 jhash_3words(u32 a, u32 b, u32 c, u32 initval)
{
	u32 base = JHASH_INITVAL + (3 << 2) + initval;

	a += base;
	b += base;
	c += base;
	c ^= b; c -= rol32(b, 14);
	a ^= c; a -= rol32(c, 11);
	b ^= a; b -= rol32(a, 25);
	c ^= b; c -= rol32(b, 16);
	a ^= c; a -= rol32(c, 4);
	b ^= a; b -= rol32(a, 14);
	c ^= b; c -= rol32(b, 24);
	return c;
}
#define jhash_2words(a, b, initval) jhash_3words(a, b, 0, initval)
#define jhash_1word(a, initval) jhash_3words(a, 0, 0, initval)
extern u32 jhash(const void *key, u32 length, u32 initval);
static inline u32 jhash2(const u32 *words, u32 length, u32 initval) { return jhash(words, length * 4, initval); }

#endif
