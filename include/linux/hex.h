/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Memory as hexadecimal text. */
#ifndef _LINUX_HEX_H
#define _LINUX_HEX_H

#include <linux/types.h>

extern const char hex_asc[];
extern const char hex_asc_upper[];
#define hex_asc_lo(x) hex_asc[(x) & 0x0f]
#define hex_asc_hi(x) hex_asc[((x) & 0xf0) >> 4]
extern int hex_to_bin(unsigned char c);
extern int hex2bin(u8 *to, const char *from, size_t count);
extern char *bin2hex(char *to, const void *from, size_t count);

#endif
