/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Check sums of 16 bits, of the polynomial 0x1021 from the lowest bit. */
#ifndef _LINUX_CRC_CCITT_H
#define _LINUX_CRC_CCITT_H

#include <linux/types.h>

extern u16 crc_ccitt(u16 crc, const u8 *buffer, size_t len);
#define crc_ccitt_byte(crc, c) crc_ccitt(crc, &(const u8){ c }, 1)

#endif
