/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Arrays of bits. */
#ifndef _LINUX_BITMAP_H
#define _LINUX_BITMAP_H

#include <linux/bitops.h>
#include <linux/string.h>

extern void bitmap_set(unsigned long *map, unsigned int start, unsigned int len);
extern void bitmap_clear(unsigned long *map, unsigned int start, unsigned int len);
extern int bitmap_weight(const unsigned long *map, unsigned int bits);
extern unsigned long bitmap_find_next_zero_area(unsigned long *map, unsigned long size, unsigned long start,
						unsigned int nr, unsigned long align_mask);

static inline void bitmap_zero(unsigned long *dst, unsigned int bits)
{
	memset(dst, 0, BITS_TO_LONGS(bits) * sizeof(long));
}

static inline void bitmap_fill(unsigned long *dst, unsigned int bits)
{
	memset(dst, 0xff, BITS_TO_LONGS(bits) * sizeof(long));
}

static inline void bitmap_copy(unsigned long *dst, const unsigned long *src, unsigned int bits)
{
	memcpy(dst, src, BITS_TO_LONGS(bits) * sizeof(long));
}

static inline bool bitmap_empty(const unsigned long *map, unsigned int bits)
{
	return find_first_bit(map, bits) == bits;
}

static inline bool bitmap_full(const unsigned long *map, unsigned int bits)
{
	return find_first_zero_bit(map, bits) == bits;
}

static inline bool bitmap_equal(const unsigned long *a, const unsigned long *b, unsigned int bits)
{
	unsigned int i;

	for (i = 0; i < bits; i++)
		if (test_bit(i, a) != test_bit(i, b))
			return false;
	return true;
}

static inline bool bitmap_and(unsigned long *dst, const unsigned long *a, const unsigned long *b, unsigned int bits)
{
	unsigned int i;

	for (i = 0; i < BITS_TO_LONGS(bits); i++)
		dst[i] = a[i] & b[i];
	return !bitmap_empty(dst, bits);
}

static inline void bitmap_or(unsigned long *dst, const unsigned long *a, const unsigned long *b, unsigned int bits)
{
	unsigned int i;

	for (i = 0; i < BITS_TO_LONGS(bits); i++)
		dst[i] = a[i] | b[i];
}

/* The first of @nr zero bits in a row, of which the place plus @offset is a multiple of the mask and 1. */
static inline unsigned long bitmap_find_next_zero_area_off(unsigned long *map, unsigned long size, unsigned long start,
							   unsigned int nr, unsigned long align_mask,
							   unsigned long offset)
{
	for (;;) {
		unsigned long at = find_next_zero_bit(map, size, start), end, used;

		at = ((at + offset + align_mask) & ~align_mask) - offset;
		end = at + nr;
		if (end > size)
			return end;
		used = find_next_bit(map, end, at);
		if (used >= end)
			return at;
		start = used + 1;
	}
}

extern unsigned long *bitmap_alloc(unsigned int bits, gfp_t flags);
extern unsigned long *bitmap_zalloc(unsigned int bits, gfp_t flags);
extern void bitmap_free(const unsigned long *map);

static inline unsigned long find_next_and_bit(const unsigned long *a, const unsigned long *b,
					      unsigned long size, unsigned long at)
{
	while ((at = find_next_bit(a, size, at)) < size && !test_bit(at, b))
		at++;
	return at < size ? at : size;
}
#define find_first_and_bit(a, b, size) find_next_and_bit(a, b, size, 0)

/* The n-th bit that is set, from 0; @size if there are fewer. */
static inline unsigned long find_nth_bit(const unsigned long *map, unsigned long size, unsigned long n)
{
	unsigned long at = find_first_bit(map, size);

	while (n-- && at < size)
		at = find_next_bit(map, size, at + 1);
	return at;
}

/* Behind the functions that sets of CPUs need, which the allocator's header needs. */
#include <linux/slab.h>
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 5, 0)
#include <linux/cleanup.h>
DEFINE_FREE(bitmap, unsigned long *, if (_T) bitmap_free(_T))
#endif

#endif
