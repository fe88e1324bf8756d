/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Base64 as RFC 4648 has it, with the alphabets of its section 4, of URLs (section 5), and of IMAP's mailbox names
 * (RFC 3501, section 5.1.3).
 *
 * Linux counterpart: include/linux/base64.h @ 7.3. Without @padding and @variant, as in 6.12: padded, standard. */
#ifndef _LINUX_BASE64_H
#define _LINUX_BASE64_H

#include <linux/kernel.h>
#include <linux/types.h>

enum base64_variant {
	BASE64_STD,
	BASE64_URLSAFE,
	BASE64_IMAP
};

#define BASE64_CHARS(nbytes) DIV_ROUND_UP((nbytes) * 4, 3)

/* Return: how many characters, bytes were written; -1 for what cannot be read. */
extern int kapi_base64_encode(const u8 *src, int srclen, char *dst, bool padding, enum base64_variant variant);
extern int kapi_base64_decode(const char *src, int srclen, u8 *dst, bool padding, enum base64_variant variant);
#define base64_encode(src, srclen, ...) KAPI_BY_COUNT(__kapi_base64_encode_, src, srclen, __VA_ARGS__)
#define base64_decode(src, srclen, ...) KAPI_BY_COUNT(__kapi_base64_decode_, src, srclen, __VA_ARGS__)
#define __kapi_base64_encode_3(src, srclen, dst) kapi_base64_encode(src, srclen, dst, true, BASE64_STD)
#define __kapi_base64_decode_3(src, srclen, dst) kapi_base64_decode(src, srclen, dst, true, BASE64_STD)
#define __kapi_base64_encode_5(...) kapi_base64_encode(__VA_ARGS__)
#define __kapi_base64_decode_5(...) kapi_base64_decode(__VA_ARGS__)

#endif
