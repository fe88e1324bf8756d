/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Check sums of 32 bits: the polynomial of IEEE 802.3 from either end, and Castagnoli's.
 *
 * Without the complement before and behind, which is the caller's.
 *
 * Linux counterpart: include/linux/crc32.h @ 6.14 (crc32c() with a head of its own before).
 */
#ifndef _LINUX_CRC32_H
#define _LINUX_CRC32_H

#include <linux/types.h>

extern u32 crc32_le(u32 crc, const void *p, size_t len);
extern u32 crc32_be(u32 crc, const void *p, size_t len);
extern u32 crc32c(u32 crc, const void *p, size_t len);
#define crc32(seed, data, len) crc32_le(seed, data, len)
#define __crc32c_le(seed, data, len) crc32c(seed, data, len)
/* The sum of two runs one after the other, of that of each, where that of the second began with 0. */
extern u32 crc32_le_combine(u32 crc1, u32 crc2, size_t len2);
extern u32 crc32c_combine(u32 crc1, u32 crc2, size_t len2);
#define __crc32c_le_combine(crc1, crc2, len2) crc32c_combine(crc1, crc2, len2)
/* The sum of a run with @len zeros behind it. */
#define crc32_le_shift(crc, len) crc32_le_combine(crc, 0, len)
#define __crc32c_le_shift(crc, len) crc32c_combine(crc, 0, len)

#endif
