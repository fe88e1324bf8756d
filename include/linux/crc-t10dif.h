/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Check sums of 16 bits, of SCSI's data integrity field. */
#ifndef _LINUX_CRC_T10DIF_H
#define _LINUX_CRC_T10DIF_H

#include <linux/types.h>

extern u16 crc_t10dif_update(u16 crc, const u8 *p, size_t len);
#define crc_t10dif(p, len) crc_t10dif_update(0, p, len)

#endif
