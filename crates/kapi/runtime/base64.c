// SPDX-License-Identifier: MIT OR Apache-2.0
// Base64: six bits a character.
#include <linux/base64.h>
#include <linux/ctype.h>

/* The last two characters of each alphabet. */
static const char ends[][2] = { [BASE64_STD] = "+/", [BASE64_URLSAFE] = "-_", [BASE64_IMAP] = "+," };

static char character(unsigned int value, enum base64_variant variant)
{
	return (char)(value < 26 ? 'A' + value : value < 52 ? 'a' + value - 26 : value < 62 ? '0' + value - 52 :
		      ends[variant][value - 62]);
}

static int value_of(char c, enum base64_variant variant)
{
	return c >= 'A' && c <= 'Z' ? c - 'A' : c >= 'a' && c <= 'z' ? c - 'a' + 26 :
	       c >= '0' && c <= '9' ? c - '0' + 52 : c == ends[variant][0] ? 62 : c == ends[variant][1] ? 63 : -1;
}

int kapi_base64_encode(const u8 *src, int srclen, char *dst, bool padding, enum base64_variant variant)
{
	unsigned int word = 0, bits = 0;
	char *to = dst;

	for (; srclen > 0; srclen--) {
		word = word << 8 | *src++;
		for (bits += 8; bits >= 6; bits -= 6)
			*to++ = character(word >> (bits - 6) & 63, variant);
	}
	if (bits)
		*to++ = character(word << (6 - bits) & 63, variant);
	while (padding && (to - dst) % 4)
		*to++ = '=';
	return (int)(to - dst);
}

int kapi_base64_decode(const char *src, int srclen, u8 *dst, bool padding, enum base64_variant variant)
{
	unsigned int word = 0, bits = 0;
	u8 *to = dst;
	int i, value;

	if (padding && srclen % 4)
		return -1;
	for (i = 0; padding && i < 2 && srclen && src[srclen - 1] == '='; i++)
		srclen--;
	if (srclen % 4 == 1)
		return -1;
	for (i = 0; i < srclen; i++) {
		value = value_of(src[i], variant);
		if (value < 0)
			return -1;
		word = word << 6 | (unsigned int)value;
		bits += 6;
		if (bits >= 8) {
			bits -= 8;
			*to++ = (u8)(word >> bits);
		}
	}
	/* What is left over of the last character is nothing. */
	return word & ((1U << bits) - 1) ? -1 : (int)(to - dst);
}
