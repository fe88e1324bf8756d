// SPDX-License-Identifier: MIT OR Apache-2.0
// Arrays of bits: what goes over them bit by bit, and their text.
#include "host.h"
#include <linux/random.h>
#include <linux/bitmap.h>
#include <linux/ctype.h>
#include <linux/err.h>
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/limits.h>
#include <linux/slab.h>
#include <linux/string.h>

/* The last word without bits behind the map. */
static void trim(unsigned long *map, unsigned int bits)
{
	if (bits % BITS_PER_LONG)
		map[bits / BITS_PER_LONG] &= BITMAP_LAST_WORD_MASK(bits);
}

unsigned long *bitmap_alloc(unsigned int bits, gfp_t flags)
{
	return kmalloc_array(BITS_TO_LONGS(bits), sizeof(unsigned long), flags);
}

unsigned long *bitmap_zalloc(unsigned int bits, gfp_t flags) { return bitmap_alloc(bits, flags | __GFP_ZERO); }
void bitmap_free(const unsigned long *map) { kfree(map); }

/* The bits from start up to end that lie in a word. */
static unsigned long bits_in(unsigned int word, unsigned int start, unsigned int end)
{
	unsigned long mask = ~0UL;

	if (word == start / BITS_PER_LONG)
		mask &= BITMAP_FIRST_WORD_MASK(start);
	if (word == (end - 1) / BITS_PER_LONG)
		mask &= BITMAP_LAST_WORD_MASK(end);
	return mask;
}

void __bitmap_set(unsigned long *map, unsigned int start, unsigned int len)
{
	unsigned int end = start + len, word;

	for (word = start / BITS_PER_LONG; len && word <= (end - 1) / BITS_PER_LONG; word++)
		map[word] |= bits_in(word, start, end);
}

void __bitmap_clear(unsigned long *map, unsigned int start, unsigned int len)
{
	unsigned int end = start + len, word;

	for (word = start / BITS_PER_LONG; len && word <= (end - 1) / BITS_PER_LONG; word++)
		map[word] &= ~bits_in(word, start, end);
}

unsigned int __bitmap_weight(const unsigned long *map, unsigned int bits)
{
	unsigned int i, weight = 0;

	for (i = 0; i < bits / BITS_PER_LONG; i++)
		weight += hweight_long(map[i]);
	if (bits % BITS_PER_LONG)
		weight += hweight_long(map[i] & BITMAP_LAST_WORD_MASK(bits));
	return weight;
}

bool __bitmap_equal(const unsigned long *a, const unsigned long *b, unsigned int bits)
{
	unsigned int i;

	for (i = 0; i < bits / BITS_PER_LONG; i++)
		if (a[i] != b[i])
			return false;
	return !(bits % BITS_PER_LONG) || !((a[i] ^ b[i]) & BITMAP_LAST_WORD_MASK(bits));
}

unsigned long bitmap_find_next_zero_area(unsigned long *map, unsigned long size, unsigned long start, unsigned int nr,
					 unsigned long align_mask)
{
	for (;;) {
		unsigned long begin = find_next_zero_bit(map, size, start), next;

		begin = (begin + align_mask) & ~align_mask;
		if (begin + nr > size)
			return begin + nr;
		next = find_next_bit(map, begin + nr, begin);
		if (next >= begin + nr)
			return begin;
		start = next + 1;
	}
}

void __bitmap_complement(unsigned long *dst, const unsigned long *src, unsigned int bits)
{
	unsigned int i;

	for (i = 0; i < BITS_TO_LONGS(bits); i++)
		dst[i] = ~src[i];
	trim(dst, bits);
}

void __bitmap_shift_right(unsigned long *dst, const unsigned long *src, unsigned int shift, unsigned int bits)
{
	unsigned int i;

	for (i = 0; i < bits; i++)
		__assign_bit(i, dst, i + shift < bits && test_bit(i + shift, src));
	trim(dst, bits);
}

void __bitmap_shift_left(unsigned long *dst, const unsigned long *src, unsigned int shift, unsigned int bits)
{
	unsigned int i;

	for (i = bits; i-- > 0;)
		__assign_bit(i, dst, i >= shift && test_bit(i - shift, src));
	trim(dst, bits);
}

/* As the words move, those bits of the last one come along that are behind the map. */
void bitmap_cut(unsigned long *dst, const unsigned long *src, unsigned int first, unsigned int cut, unsigned int bits)
{
	unsigned int i, whole = BITS_TO_LONGS(bits) * BITS_PER_LONG;

	for (i = 0; i < bits; i++) {
		unsigned int from = i < first ? i : i + cut;

		__assign_bit(i, dst, from < whole && test_bit(from, src));
	}
}

void bitmap_replace(unsigned long *dst, const unsigned long *old, const unsigned long *new, const unsigned long *mask,
		    unsigned int bits)
{
	unsigned int i;

	for (i = 0; i < BITS_TO_LONGS(bits); i++)
		dst[i] = (old[i] & ~mask[i]) | (new[i] & mask[i]);
}

void bitmap_scatter(unsigned long *dst, const unsigned long *src, const unsigned long *mask, unsigned int bits)
{
	unsigned int bit, n = 0;

	bitmap_zero(dst, bits);
	for_each_set_bit(bit, mask, bits)
		__assign_bit(bit, dst, test_bit(n++, src));
}

void bitmap_gather(unsigned long *dst, const unsigned long *src, const unsigned long *mask, unsigned int bits)
{
	unsigned int bit, n = 0;

	bitmap_zero(dst, bits);
	for_each_set_bit(bit, mask, bits)
		__assign_bit(n++, dst, test_bit(bit, src));
}

int bitmap_allocate_region(unsigned long *map, unsigned int pos, int order)
{
	if (find_next_bit(map, pos + (1UL << order), pos) < pos + (1UL << order))
		return -EBUSY;
	bitmap_set(map, pos, 1U << order);
	return 0;
}

void bitmap_release_region(unsigned long *map, unsigned int pos, int order) { bitmap_clear(map, pos, 1U << order); }

int bitmap_find_free_region(unsigned long *map, unsigned int bits, int order)
{
	unsigned long pos;

	for (pos = 0; pos + (1UL << order) <= bits; pos += 1UL << order)
		if (!bitmap_allocate_region(map, (unsigned int)pos, order))
			return (int)pos;
	return -ENOMEM;
}

bool bitmap_andnot(unsigned long *dst, const unsigned long *a, const unsigned long *b, unsigned int bits)
{
	unsigned int i;

	for (i = 0; i < BITS_TO_LONGS(bits); i++)
		dst[i] = a[i] & ~b[i];
	return !bitmap_empty(dst, bits);
}

void bitmap_xor(unsigned long *dst, const unsigned long *a, const unsigned long *b, unsigned int bits)
{
	unsigned int i;

	for (i = 0; i < BITS_TO_LONGS(bits); i++)
		dst[i] = a[i] ^ b[i];
}

bool bitmap_intersects(const unsigned long *a, const unsigned long *b, unsigned int bits)
{
	return find_first_and_bit(a, b, bits) < bits;
}

bool bitmap_subset(const unsigned long *a, const unsigned long *b, unsigned int bits)
{
	unsigned long bit;

	for_each_set_bit(bit, a, bits)
		if (!test_bit(bit, b))
			return false;
	return true;
}

void bitmap_from_arr32(unsigned long *map, const u32 *from, unsigned int bits)
{
	unsigned int i;

	for (i = 0; i < BITS_TO_LONGS(bits); i++) {
		map[i] = from[2 * i];
		if (2 * i + 1 < DIV_ROUND_UP(bits, 32))
			map[i] |= (unsigned long)from[2 * i + 1] << 32;
	}
	trim(map, bits);
}

void bitmap_to_arr32(u32 *to, const unsigned long *map, unsigned int bits)
{
	unsigned int i, words = DIV_ROUND_UP(bits, 32);

	for (i = 0; i < words; i++)
		to[i] = (u32)(map[i / 2] >> (i % 2 * 32));
	if (bits % 32)
		to[words - 1] &= 0xffffffffU >> (32 - bits % 32);
}

void bitmap_from_arr64(unsigned long *map, const u64 *from, unsigned int bits)
{
	memcpy(map, from, BITS_TO_LONGS(bits) * sizeof(long));
	trim(map, bits);
}

void bitmap_to_arr64(u64 *to, const unsigned long *map, unsigned int bits)
{
	memcpy(to, map, BITS_TO_LONGS(bits) * sizeof(long));
	trim((unsigned long *)to, bits);
}

static bool is_end(char c) { return !c || c == '\n'; }
static bool is_gap(char c) { return c == ',' || isspace(c); }

/* A decimal number, or N for the last bit. Return: what follows, or an error. */
static const char *number(const char *text, unsigned int last, unsigned int *value)
{
	u64 sum = 0;

	if (*text == 'N') {
		*value = last;
		return text + 1;
	}
	if (!isdigit(*text))
		return ERR_PTR(-EINVAL);
	for (; isdigit(*text); text++) {
		sum = sum * 10 + (u64)(*text - '0');
		if (sum > UINT_MAX)
			return ERR_PTR(-EOVERFLOW);
	}
	*value = (unsigned int)sum;
	return text;
}

/* Bits from @start to @end; of each group the first @off. */
struct range {
	unsigned int start, end, off, group;
};

/* Return: what follows the range, or an error. */
static const char *range_of(const char *text, unsigned int last, struct range *r)
{
	if (!strncasecmp(text, "all", 3)) {
		*r = (struct range){ .end = last };
		text += 3;
	} else {
		text = number(text, last, &r->start);
		if (IS_ERR(text))
			return text;
		r->end = r->start;
		if (*text != '-')
			goto plain;
		text = number(text + 1, last, &r->end);
		if (IS_ERR(text))
			return text;
	}
	if (*text != ':')
		goto plain;
	text = number(text + 1, last, &r->off);
	if (IS_ERR(text))
		return text;
	return *text == '/' ? number(text + 1, last, &r->group) : ERR_PTR(-EINVAL);
plain:
	r->off = r->group = r->end - r->start + 1;
	return is_end(*text) || is_gap(*text) ? text : ERR_PTR(-EINVAL);
}

int bitmap_parselist(const char *text, unsigned long *map, int bits)
{
	struct range r;
	unsigned int at;

	bitmap_zero(map, (unsigned int)bits);
	for (;;) {
		while (!is_end(*text) && is_gap(*text))
			text++;
		if (is_end(*text))
			return 0;
		text = range_of(text, (unsigned int)bits - 1, &r);
		if (IS_ERR(text))
			return (int)PTR_ERR(text);
		if (r.start > r.end || !r.group || r.off > r.group)
			return -EINVAL;
		if (r.end >= (unsigned int)bits)
			return -ERANGE;
		for (at = r.start; at <= r.end; at += r.group)
			bitmap_set(map, at, min(r.end - at + 1, r.off));
	}
}

/* Words of 32 bits, the last of the text first. */
int bitmap_parse(const char *text, unsigned int len, unsigned long *map, int bits)
{
	const char *line = memchr(text, '\n', strnlen(text, len));
	const char *end = line ? line : text + strnlen(text, len);
	unsigned int words = DIV_ROUND_UP((unsigned int)bits, 32), at = 0;

	bitmap_zero(map, (unsigned int)bits);
	for (;;) {
		unsigned int digits = 0;
		u32 word = 0;

		while (end > text && is_gap(end[-1]))
			end--;
		if (end == text)
			return 0;
		if (at == words)
			return -EOVERFLOW;
		for (; end > text && !is_gap(end[-1]); end--, digits++) {
			if (!isxdigit(end[-1]))
				return -EINVAL;
			if (digits == 8)
				return -EOVERFLOW;
			word |= (u32)hex_to_bin((unsigned char)end[-1]) << (4 * digits);
		}
		if (at == words - 1 && bits % 32 && word >> (bits % 32))
			return -EOVERFLOW;
		map[at / 2] |= (unsigned long)word << (at % 2 * 32);
		at++;
	}
}

int bitmap_print_to_pagebuf(bool list, char *buf, const unsigned long *map, int bits)
{
	return scnprintf(buf, PAGE_SIZE, list ? "%*pbl\n" : "%*pb\n", bits, map);
}

static int part(const char *fmt, char *buf, const unsigned long *map, int bits, loff_t off, size_t count)
{
	char *whole = kasprintf(GFP_KERNEL, fmt, bits, map);
	size_t bytes, n = 0;

	if (!whole)
		return -ENOMEM;
	bytes = strlen(whole) + 1;
	if (off >= 0 && (size_t)off < bytes) {
		n = min(count, bytes - (size_t)off);
		memcpy(buf, whole + off, n);
	}
	kfree(whole);
	return (int)n;
}

int bitmap_print_list_to_buf(char *buf, const unsigned long *map, int bits, loff_t off, size_t count)
{
	return part("%*pbl\n", buf, map, bits, off, count);
}

int bitmap_print_bitmask_to_buf(char *buf, const unsigned long *map, int bits, loff_t off, size_t count)
{
	return part("%*pb\n", buf, map, bits, off, count);
}

unsigned int bitmap_weight_and(const unsigned long *a, const unsigned long *b, unsigned int bits)
{
	unsigned int weight = 0, i;

	for (i = 0; i < bits / BITS_PER_LONG; i++)
		weight += hweight_long(a[i] & b[i]);
	return bits % BITS_PER_LONG ? weight + hweight_long(a[i] & b[i] & BITMAP_LAST_WORD_MASK(bits)) : weight;
}

unsigned int bitmap_weight_andnot(const unsigned long *a, const unsigned long *b, unsigned int bits)
{
	return __bitmap_weight(a, bits) - bitmap_weight_and(a, b, bits);
}

unsigned int bitmap_weight_from(const unsigned long *map, unsigned int start, unsigned int bits)
{
	/* From behind the end on it is told by a number that no weight is. */
	return start > bits ? bits : __bitmap_weight(map, bits) - __bitmap_weight(map, start);
}

unsigned int bitmap_weighted_or(unsigned long *dst, const unsigned long *a, const unsigned long *b, unsigned int bits)
{
	bitmap_or(dst, a, b, bits);
	return __bitmap_weight(dst, bits);
}

unsigned long find_random_bit(const unsigned long *map, unsigned long size)
{
	unsigned int weight = __bitmap_weight(map, (unsigned int)size);

	return weight ? find_nth_bit(map, size, get_random_u32_below(weight)) : size;
}
