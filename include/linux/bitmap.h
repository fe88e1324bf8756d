/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Arrays of bits. */
#ifndef _LINUX_BITMAP_H
#define _LINUX_BITMAP_H

#include <linux/bitops.h>
#include <linux/string.h>

/* All or none of a word: bits from @start on, and the first @bits. */
#define BITMAP_FIRST_WORD_MASK(start) (~0UL << ((start) & (BITS_PER_LONG - 1)))
#define BITMAP_LAST_WORD_MASK(bits) (~0UL >> (-(bits) & (BITS_PER_LONG - 1)))
#define bitmap_size(bits) (ALIGN(bits, BITS_PER_LONG) / BITS_PER_BYTE)
#define BITMAP_FROM_U64(n) (n)
/* Of one word the compiler knows the result where it knows the word. */
#define small_const_nbits(bits) (__builtin_constant_p(bits) && (bits) <= BITS_PER_LONG && (bits) > 0)

extern void __bitmap_set(unsigned long *map, unsigned int start, unsigned int len);
extern void __bitmap_clear(unsigned long *map, unsigned int start, unsigned int len);
extern unsigned int __bitmap_weight(const unsigned long *map, unsigned int bits);
extern bool __bitmap_equal(const unsigned long *a, const unsigned long *b, unsigned int bits);
extern void __bitmap_complement(unsigned long *dst, const unsigned long *src, unsigned int bits);
extern void __bitmap_shift_left(unsigned long *dst, const unsigned long *src, unsigned int shift, unsigned int bits);
extern void __bitmap_shift_right(unsigned long *dst, const unsigned long *src, unsigned int shift, unsigned int bits);

static __always_inline void bitmap_set(unsigned long *map, unsigned int start, unsigned int len)
{
	if (small_const_nbits(start + len))
		*map |= BITMAP_FIRST_WORD_MASK(start) & BITMAP_LAST_WORD_MASK(start + len);
	else
		__bitmap_set(map, start, len);
}

static __always_inline void bitmap_clear(unsigned long *map, unsigned int start, unsigned int len)
{
	if (__builtin_constant_p(start) && __builtin_constant_p(len) && !start && len == BITS_PER_LONG)
		*map = 0;
	else if (small_const_nbits(start + len))
		*map &= ~(BITMAP_FIRST_WORD_MASK(start) & BITMAP_LAST_WORD_MASK(start + len));
	else
		__bitmap_clear(map, start, len);
}

static __always_inline unsigned int bitmap_weight(const unsigned long *map, unsigned int bits)
{
	return small_const_nbits(bits) ? hweight_long(*map & BITMAP_LAST_WORD_MASK(bits)) : __bitmap_weight(map, bits);
}

/* Of a word with more bits than were asked for, those are cleared. */
static __always_inline void bitmap_complement(unsigned long *dst, const unsigned long *src, unsigned int bits)
{
	if (small_const_nbits(bits))
		*dst = ~*src & BITMAP_LAST_WORD_MASK(bits);
	else
		__bitmap_complement(dst, src, bits);
}

static __always_inline void bitmap_shift_right(unsigned long *dst, const unsigned long *src, unsigned int shift,
					       unsigned int bits)
{
	if (small_const_nbits(bits))
		*dst = shift < BITS_PER_LONG ? (*src & BITMAP_LAST_WORD_MASK(bits)) >> shift : 0;
	else
		__bitmap_shift_right(dst, src, shift, bits);
}

static __always_inline void bitmap_shift_left(unsigned long *dst, const unsigned long *src, unsigned int shift,
					      unsigned int bits)
{
	if (small_const_nbits(bits))
		*dst = shift < BITS_PER_LONG ? (*src << shift) & BITMAP_LAST_WORD_MASK(bits) : 0;
	else
		__bitmap_shift_left(dst, src, shift, bits);
}
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

static __always_inline bool bitmap_full(const unsigned long *map, unsigned int bits)
{
	if (small_const_nbits(bits))
		return !(~*map & BITMAP_LAST_WORD_MASK(bits));
	return find_first_zero_bit(map, bits) == bits;
}

static inline bool bitmap_equal(const unsigned long *a, const unsigned long *b, unsigned int bits)
{
	return __bitmap_equal(a, b, bits);
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

/* In @a, not in @b. */
static inline unsigned long find_next_andnot_bit(const unsigned long *a, const unsigned long *b, unsigned long size,
						 unsigned long at)
{
	while ((at = find_next_bit(a, size, at)) < size && test_bit(at, b))
		at++;
	return at < size ? at : size;
}
#define find_first_andnot_bit(a, b, size) find_next_andnot_bit(a, b, size, 0)

static inline unsigned long find_first_and_and_bit(const unsigned long *a, const unsigned long *b, const unsigned long *c,
						   unsigned long size)
{
	unsigned long at = 0;

	while ((at = find_next_and_bit(a, b, size, at)) < size && !test_bit(at, c))
		at++;
	return at;
}

/* The n-th bit that both have, from 0; @size if there are fewer. */
static inline unsigned long find_nth_and_bit(const unsigned long *a, const unsigned long *b, unsigned long size,
					     unsigned long n)
{
	unsigned long at = find_first_and_bit(a, b, size);

	while (n-- && at < size)
		at = find_next_and_bit(a, b, size, at + 1);
	return at;
}

/* The n-th bit that is set, from 0; @size if there are fewer. */
static inline unsigned long find_nth_bit(const unsigned long *map, unsigned long size, unsigned long n)
{
	unsigned long at = find_first_bit(map, size);

	while (n-- && at < size)
		at = find_next_bit(map, size, at + 1);
	return at;
}

/* How many bits are set in both; in @a alone; from @start on. */
extern unsigned int bitmap_weight_and(const unsigned long *a, const unsigned long *b, unsigned int bits);
extern unsigned int bitmap_weight_andnot(const unsigned long *a, const unsigned long *b, unsigned int bits);
extern unsigned int bitmap_weight_from(const unsigned long *map, unsigned int start, unsigned int bits);
/* One that is set, each as likely; @size for none. */
extern unsigned long find_random_bit(const unsigned long *map, unsigned long size);
/* As bitmap_or(). Return: how many bits are set. */
extern unsigned int bitmap_weighted_or(unsigned long *dst, const unsigned long *a, const unsigned long *b, unsigned int bits);

/* Whether @a and @b together have the bits of @c. */
static inline bool bitmap_or_equal(const unsigned long *a, const unsigned long *b, const unsigned long *c, unsigned int bits)
{
	unsigned int i;

	for (i = 0; i < bits / BITS_PER_LONG; i++)
		if ((a[i] | b[i]) != c[i])
			return false;
	return !(bits % BITS_PER_LONG) || !(((a[i] | b[i]) ^ c[i]) & BITMAP_LAST_WORD_MASK(bits));
}

/* What is behind the last bit is cleared. */
static inline void bitmap_copy_clear_tail(unsigned long *dst, const unsigned long *src, unsigned int bits)
{
	bitmap_copy(dst, src, bits);
	if (bits % BITS_PER_LONG)
		dst[bits / BITS_PER_LONG] &= BITMAP_LAST_WORD_MASK(bits);
}

/* Takes @cut bits from @first on out, and closes the gap. */
extern void bitmap_cut(unsigned long *dst, const unsigned long *src, unsigned int first, unsigned int cut, unsigned int bits);
/* Takes bits of @mask from @new, the others from @old. */
extern void bitmap_replace(unsigned long *dst, const unsigned long *old, const unsigned long *new,
			   const unsigned long *mask, unsigned int bits);
/* The first bits of @src go to those of @mask; and the other way. */
extern void bitmap_scatter(unsigned long *dst, const unsigned long *src, const unsigned long *mask, unsigned int bits);
extern void bitmap_gather(unsigned long *dst, const unsigned long *src, const unsigned long *mask, unsigned int bits);
/* Runs of 2^@order bits, each at a multiple of it. */
extern int bitmap_find_free_region(unsigned long *map, unsigned int bits, int order);
extern void bitmap_release_region(unsigned long *map, unsigned int pos, int order);
extern int bitmap_allocate_region(unsigned long *map, unsigned int pos, int order);
extern bool bitmap_andnot(unsigned long *dst, const unsigned long *a, const unsigned long *b, unsigned int bits);
extern void bitmap_xor(unsigned long *dst, const unsigned long *a, const unsigned long *b, unsigned int bits);
extern bool bitmap_intersects(const unsigned long *a, const unsigned long *b, unsigned int bits);
extern bool bitmap_subset(const unsigned long *a, const unsigned long *b, unsigned int bits);
extern void bitmap_from_arr32(unsigned long *map, const u32 *from, unsigned int bits);
extern void bitmap_to_arr32(u32 *to, const unsigned long *map, unsigned int bits);
extern void bitmap_from_arr64(unsigned long *map, const u64 *from, unsigned int bits);
extern void bitmap_to_arr64(u64 *to, const unsigned long *map, unsigned int bits);

/* A list as "0,8-15,32-63:2/8" or "all", and words as "ff,0000000f". Return: 0, -EINVAL, -ERANGE, -EOVERFLOW. */
extern int bitmap_parselist(const char *text, unsigned long *map, int bits);
extern int bitmap_parse(const char *text, unsigned int len, unsigned long *map, int bits);
/* A line for a page of sysfs; and a part of one that may be larger. Return: bytes. */
extern int bitmap_print_to_pagebuf(bool list, char *buf, const unsigned long *map, int bits);
extern int bitmap_print_list_to_buf(char *buf, const unsigned long *map, int bits, loff_t off, size_t count);
extern int bitmap_print_bitmask_to_buf(char *buf, const unsigned long *map, int bits, loff_t off, size_t count);

/* Up to a word of bits from any place. */
static inline unsigned long bitmap_read(const unsigned long *map, unsigned long start, unsigned long bits)
{
	unsigned long word = start / BITS_PER_LONG, shift = start % BITS_PER_LONG, low;

	if (!bits || bits > BITS_PER_LONG)
		return 0;
	low = map[word] >> shift;
	if (shift + bits > BITS_PER_LONG)
		low |= map[word + 1] << (BITS_PER_LONG - shift);
	return low & BITMAP_LAST_WORD_MASK(bits);
}

static inline void bitmap_write(unsigned long *map, unsigned long value, unsigned long start, unsigned long bits)
{
	unsigned long word = start / BITS_PER_LONG, shift = start % BITS_PER_LONG, mask;

	if (!bits || bits > BITS_PER_LONG)
		return;
	mask = BITMAP_LAST_WORD_MASK(bits);
	value &= mask;
	map[word] = (map[word] & ~(mask << shift)) | value << shift;
	if (shift + bits > BITS_PER_LONG) {
		shift = BITS_PER_LONG - shift;
		map[word + 1] = (map[word + 1] & ~(mask >> shift)) | value >> shift;
	}
}

/* Eight bits at a multiple of eight. */
static inline unsigned long bitmap_get_value8(const unsigned long *map, unsigned long start)
{
	return bitmap_read(map, start, BITS_PER_BYTE);
}

static inline void bitmap_set_value8(unsigned long *map, unsigned long value, unsigned long start)
{
	bitmap_write(map, value, start, BITS_PER_BYTE);
}

/* The next group of eight with a bit set. Return: where it begins, @size for none. */
static inline unsigned long find_next_clump8(unsigned long *clump, const unsigned long *map, unsigned long size,
					     unsigned long at)
{
	at = find_next_bit(map, size, at);
	if (at == size)
		return size;
	at -= at % BITS_PER_BYTE;
	*clump = bitmap_get_value8(map, at);
	return at;
}
#define find_first_clump8(clump, map, size) find_next_clump8(clump, map, size, 0)
#define for_each_set_clump8(start, clump, map, size) \
	for ((start) = find_first_clump8(&(clump), map, size); (start) < (size); \
	     (start) = find_next_clump8(&(clump), map, size, (start) + BITS_PER_BYTE))

/* Runs of bits that are set, or clear, from @begin up to @end. */
#define for_each_set_bitrange_from(begin, end, map, size) \
	for (; (begin) = find_next_bit(map, size, begin), (end) = find_next_zero_bit(map, size, (begin) + 1), \
	       (begin) < (size); (begin) = (end) + 1)
#define for_each_set_bitrange(begin, end, map, size) \
	for ((begin) = 0; (begin) = find_next_bit(map, size, begin), \
	     (end) = find_next_zero_bit(map, size, (begin) + 1), (begin) < (size); (begin) = (end) + 1)
#define for_each_clear_bitrange_from(begin, end, map, size) \
	for (; (begin) = find_next_zero_bit(map, size, begin), (end) = find_next_bit(map, size, (begin) + 1), \
	       (begin) < (size); (begin) = (end) + 1)
#define for_each_clear_bitrange(begin, end, map, size) \
	for ((begin) = 0; (begin) = find_next_zero_bit(map, size, begin), \
	     (end) = find_next_bit(map, size, (begin) + 1), (begin) < (size); (begin) = (end) + 1)
#define for_each_clear_bit_from(bit, map, size) \
	for (; (bit) = find_next_zero_bit(map, size, bit), (bit) < (size); (bit)++)

/* From @start to the end, and then those before it. */
static inline unsigned long find_next_bit_wrap(const unsigned long *map, unsigned long size, unsigned long at)
{
	unsigned long bit = find_next_bit(map, size, at);

	if (bit < size || !at)
		return bit;
	bit = find_first_bit(map, at);
	return bit < at ? bit : size;
}

static inline unsigned long __for_each_wrap(const unsigned long *map, unsigned long size, unsigned long start,
					    unsigned long at)
{
	unsigned long bit;

	/* Behind the end once. */
	if (at > start) {
		bit = find_next_bit(map, size, at);
		if (bit < size)
			return bit;
		at = 0;
	}
	bit = find_next_bit(map, start, at);
	return bit < start ? bit : size;
}
#define for_each_set_bit_wrap(bit, map, size, start) \
	for ((bit) = find_next_bit_wrap(map, size, start); (bit) < (size); \
	     (bit) = __for_each_wrap(map, size, start, (bit) + 1))

/* Behind the functions that sets of CPUs need, which the allocator's header needs. */
#include <linux/slab.h>
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 5, 0)
#include <linux/cleanup.h>
DEFINE_FREE(bitmap, unsigned long *, if (_T) bitmap_free(_T))
#endif

#endif
