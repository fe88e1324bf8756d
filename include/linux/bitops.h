/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Operations on bits of memory (atomic ones without __) and of words. */
#ifndef _LINUX_BITOPS_H
#define _LINUX_BITOPS_H

#include <linux/bits.h>
#include <linux/compiler.h>
#include <linux/types.h>

static inline void set_bit(long nr, volatile unsigned long *addr)
{
	__atomic_fetch_or(addr + BIT_WORD(nr), BIT_MASK(nr), __ATOMIC_RELAXED);
}

static inline void clear_bit(long nr, volatile unsigned long *addr)
{
	__atomic_fetch_and(addr + BIT_WORD(nr), ~BIT_MASK(nr), __ATOMIC_RELAXED);
}

static inline void change_bit(long nr, volatile unsigned long *addr)
{
	__atomic_fetch_xor(addr + BIT_WORD(nr), BIT_MASK(nr), __ATOMIC_RELAXED);
}

static inline bool test_and_set_bit(long nr, volatile unsigned long *addr)
{
	return __atomic_fetch_or(addr + BIT_WORD(nr), BIT_MASK(nr), __ATOMIC_SEQ_CST) & BIT_MASK(nr);
}

static inline bool test_and_clear_bit(long nr, volatile unsigned long *addr)
{
	return __atomic_fetch_and(addr + BIT_WORD(nr), ~BIT_MASK(nr), __ATOMIC_SEQ_CST) & BIT_MASK(nr);
}

static inline bool test_and_change_bit(long nr, volatile unsigned long *addr)
{
	return __atomic_fetch_xor(addr + BIT_WORD(nr), BIT_MASK(nr), __ATOMIC_SEQ_CST) & BIT_MASK(nr);
}

static __always_inline bool test_bit(long nr, const volatile unsigned long *addr)
{
	const unsigned long *word = (const unsigned long *)addr + BIT_WORD(nr);

	/* A word that the compiler knows need not be read. */
	if (__builtin_constant_p(*word))
		return *word >> (nr % BITS_PER_LONG) & 1;
	return addr[BIT_WORD(nr)] >> (nr % BITS_PER_LONG) & 1;
}

static inline void clear_bit_unlock(long nr, volatile unsigned long *addr)
{
	__atomic_fetch_and(addr + BIT_WORD(nr), ~BIT_MASK(nr), __ATOMIC_RELEASE);
}
#define test_and_set_bit_lock(nr, addr) test_and_set_bit(nr, addr)

/* Not atomic: the compiler may know the result. */
static inline void __set_bit(long nr, volatile unsigned long *addr) { ((unsigned long *)addr)[BIT_WORD(nr)] |= BIT_MASK(nr); }
static inline void __clear_bit(long nr, volatile unsigned long *addr)
{
	((unsigned long *)addr)[BIT_WORD(nr)] &= ~BIT_MASK(nr);
}

static inline void __change_bit(long nr, volatile unsigned long *addr) { ((unsigned long *)addr)[BIT_WORD(nr)] ^= BIT_MASK(nr); }

static inline bool __test_and_set_bit(long nr, volatile unsigned long *addr)
{
	bool old = test_bit(nr, addr);

	__set_bit(nr, addr);
	return old;
}

static inline bool __test_and_clear_bit(long nr, volatile unsigned long *addr)
{
	bool old = test_bit(nr, addr);

	__clear_bit(nr, addr);
	return old;
}

static inline void __assign_bit(long nr, volatile unsigned long *addr, bool value)
{
	if (value)
		__set_bit(nr, addr);
	else
		__clear_bit(nr, addr);
}

static inline void assign_bit(long nr, volatile unsigned long *addr, bool value)
{
	if (value)
		set_bit(nr, addr);
	else
		clear_bit(nr, addr);
}
#define smp_mb__before_clear_bit() __atomic_thread_fence(__ATOMIC_SEQ_CST)
#define smp_mb__after_clear_bit() __atomic_thread_fence(__ATOMIC_SEQ_CST)

static inline unsigned int hweight64(u64 word)
{
	word -= (word >> 1) & 0x5555555555555555ULL;
	word = (word & 0x3333333333333333ULL) + ((word >> 2) & 0x3333333333333333ULL);
	word = (word + (word >> 4)) & 0x0f0f0f0f0f0f0f0fULL;
	return (unsigned int)((word * 0x0101010101010101ULL) >> 56);
}
#define hweight_long(w) hweight64(w)
#define hweight32(w) hweight64((u32)(w))
#define hweight16(w) hweight64((u16)(w))
#define hweight8(w) hweight64((u8)(w))

/* Number of the lowest, the highest bit that is set; undefined for 0. */
static inline unsigned long __ffs(unsigned long word) { return (unsigned long)__builtin_ctzl(word); }

static inline unsigned long __fls(unsigned long word)
{
	return (unsigned long)(BITS_PER_LONG - 1 - __builtin_clzl(word));
}
static inline unsigned int __ffs64(u64 word) { return (unsigned int)__builtin_ctzll(word); }
/* The place of the n-th bit that is set, from 0; BITS_PER_LONG if there are fewer. */
static inline unsigned long fns(unsigned long word, unsigned int n)
{
	while (word && n--)
		word &= word - 1;
	return word ? __ffs(word) : BITS_PER_LONG;
}
#define ffz(x) __ffs(~(x))

/* The same counted from 1, and 0 for 0. */
static inline int ffs(int x) { return x ? __builtin_ctz((unsigned int)x) + 1 : 0; }
static inline int fls(unsigned int x) { return x ? 32 - __builtin_clz(x) : 0; }
static inline int fls64(u64 x) { return x ? 64 - __builtin_clzll(x) : 0; }
#define fls_long(x) fls64(x)

static inline int get_count_order(unsigned int count) { return count ? fls(count - 1) : -1; }
static inline int get_count_order_long(unsigned long count) { return count ? fls64(count - 1) : -1; }
static inline int get_bitmask_order(unsigned int count) { return fls(count); }
static inline u32 rol32(u32 word, unsigned int shift) { return (word << (shift & 31)) | (word >> (-shift & 31)); }
static inline u32 ror32(u32 word, unsigned int shift) { return (word >> (shift & 31)) | (word << (-shift & 31)); }
static inline u64 rol64(u64 word, unsigned int shift) { return (word << (shift & 63)) | (word >> (-shift & 63)); }
static inline u64 ror64(u64 word, unsigned int shift) { return (word >> (shift & 63)) | (word << (-shift & 63)); }

extern unsigned long find_next_bit(const unsigned long *addr, unsigned long size, unsigned long offset);
extern unsigned long find_next_zero_bit(const unsigned long *addr, unsigned long size, unsigned long offset);
extern unsigned long find_last_bit(const unsigned long *addr, unsigned long size);
#define find_first_bit(addr, size) find_next_bit(addr, size, 0)
#define find_first_zero_bit(addr, size) find_next_zero_bit(addr, size, 0)

#define for_each_set_bit(bit, addr, size) \
	for ((bit) = find_first_bit((addr), (size)); (bit) < (size); \
	     (bit) = find_next_bit((addr), (size), (bit) + 1))
#define for_each_clear_bit(bit, addr, size) \
	for ((bit) = find_first_zero_bit((addr), (size)); (bit) < (size); \
	     (bit) = find_next_zero_bit((addr), (size), (bit) + 1))
#define for_each_set_bit_from(bit, addr, size) \
	for ((bit) = find_next_bit((addr), (size), (bit)); (bit) < (size); \
	     (bit) = find_next_bit((addr), (size), (bit) + 1))

#endif
