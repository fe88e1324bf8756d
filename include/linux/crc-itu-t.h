/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Check sums of 16 bits, of the polynomial 0x1021 from the highest bit. */
#ifndef _LINUX_CRC_ITU_T_H
#define _LINUX_CRC_ITU_T_H

#include <linux/types.h>

extern u16 crc_itu_t(u16 crc, const u8 *buffer, size_t len);
#define crc_itu_t_byte(crc, data) crc_itu_t(crc, &(const u8){ data }, 1)

#endif
