/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Check sums of 16 bits, of the polynomial 0x8005 from the lowest bit. */
#ifndef _LINUX_CRC16_H
#define _LINUX_CRC16_H

#include <linux/types.h>

extern u16 crc16(u16 crc, const u8 *p, size_t len);

#endif
