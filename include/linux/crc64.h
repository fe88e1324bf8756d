/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Check sums of 64 bits: ECMA-182's from the highest bit, and NVMe's, complemented before and behind, from the lowest.
 *
 * Linux counterpart: include/linux/crc64.h @ 6.15; of before, crc64_rocksoft() is NVMe's.
 */
#ifndef _LINUX_CRC64_H
#define _LINUX_CRC64_H

#include <linux/types.h>

extern u64 crc64_be(u64 crc, const void *p, size_t len);
extern u64 crc64_nvme(u64 crc, const void *p, size_t len);
#define crc64_rocksoft_generic(crc, p, len) crc64_nvme(crc, p, len)

#endif
