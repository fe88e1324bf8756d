// SPDX-License-Identifier: MIT OR Apache-2.0
// Cyclic check sums, bit by bit: the rest of a division of polynomials over two elements.
#include <linux/crc-ccitt.h>
#include <linux/crc-itu-t.h>
#include <linux/crc-t10dif.h>
#include <linux/crc16.h>
#include <linux/crc32.h>
#include <linux/crc64.h>
#include <linux/crc7.h>

/* From the lowest bit; @poly with its bits in that order. */
static u64 from_low(u64 crc, const u8 *p, size_t len, u64 poly)
{
	int bit;

	for (; len--; p++) {
		crc ^= *p;
		for (bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (crc & 1 ? poly : 0);
	}
	return crc;
}

/* From the highest of 64 bits. */
static u64 from_high(u64 crc, const u8 *p, size_t len, u64 poly)
{
	int bit;

	for (; len--; p++) {
		crc ^= (u64)*p << 56;
		for (bit = 0; bit < 8; bit++)
			crc = crc << 1 ^ (crc >> 63 ? poly : 0);
	}
	return crc;
}

/* The same of fewer bits, @poly and the sum in the upper ones. */
static u64 from_high_of(unsigned int bits, u64 crc, const u8 *p, size_t len, u64 poly)
{
	return from_high(crc << (64 - bits), p, len, poly << (64 - bits)) >> (64 - bits);
}

/* The 7 bits and a zero below them are a sum of 8 bits. */
u8 crc7_be(u8 crc, const u8 *buffer, size_t len) { return (u8)from_high_of(8, crc, buffer, len, 0x09 << 1); }
u16 crc16(u16 crc, const u8 *p, size_t len) { return (u16)from_low(crc, p, len, 0xa001); }
u16 crc_ccitt(u16 crc, const u8 *buffer, size_t len) { return (u16)from_low(crc, buffer, len, 0x8408); }
u16 crc_itu_t(u16 crc, const u8 *buffer, size_t len) { return (u16)from_high_of(16, crc, buffer, len, 0x1021); }
u16 crc_t10dif_update(u16 crc, const u8 *p, size_t len) { return (u16)from_high_of(16, crc, p, len, 0x8bb7); }
u32 crc32_le(u32 crc, const void *p, size_t len) { return (u32)from_low(crc, p, len, 0xedb88320); }
u32 crc32c(u32 crc, const void *p, size_t len) { return (u32)from_low(crc, p, len, 0x82f63b78); }
u32 crc32_be(u32 crc, const void *p, size_t len)
{
	return (u32)from_high_of(32, crc, p, len, 0x04c11db7);
}

/* The rest of a product, with the highest power in the lowest bit. */
static u32 product(u32 a, u32 b, u32 poly)
{
	u32 sum = 0;
	int bit;

	for (bit = 31; bit >= 0; bit--) {
		if (b & 1U << bit)
			sum ^= a;
		a = a >> 1 ^ (a & 1 ? poly : 0);
	}
	return sum;
}

/* @len zeros behind a run multiply its rest by a power of x^8, which is squared from bit to bit of @len. */
static u32 zeros(u32 crc, size_t len, u32 poly)
{
	u32 factor = 1U << 23;

	for (; len; len >>= 1) {
		if (len & 1)
			crc = product(crc, factor, poly);
		factor = product(factor, factor, poly);
	}
	return crc;
}

u32 crc32_le_combine(u32 crc1, u32 crc2, size_t len2) { return zeros(crc1, len2, 0xedb88320) ^ crc2; }
u32 crc32c_combine(u32 crc1, u32 crc2, size_t len2) { return zeros(crc1, len2, 0x82f63b78) ^ crc2; }
u64 crc64_be(u64 crc, const void *p, size_t len) { return from_high(crc, p, len, 0x42f0e1eba9ea3693ULL); }
u64 crc64_nvme(u64 crc, const void *p, size_t len) { return ~from_low(~crc, p, len, 0x9a6c9329ac4bc9b5ULL); }
