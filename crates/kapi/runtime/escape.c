// SPDX-License-Identifier: MIT OR Apache-2.0
// Characters as escapes and back, and sizes as people read them.
#include <linux/kernel.h>
#include <linux/string_helpers.h>

/* Characters, and what stands for them behind a backslash. */
static const char space[] = "\n\r\t\v\f", space_letter[] = "nrtvf";
static const char special[] = "\\\a\033\"", special_letter[] = "\\ae\"";

/* The other of a pair of characters; 0 if `c` is in none. */
static char other(const char *from, const char *to, char c)
{
	const char *at = c ? strchr(from, c) : NULL;

	return at ? to[at - from] : '\0';
}

/* Reads one escape behind its backslash; returns how long it is, 0 if it is none. */
static size_t read_escape(const char *s, size_t room, unsigned int flags, char *to)
{
	size_t n = 0;
	int value = 0;

	if ((flags & UNESCAPE_SPACE) && (*to = other(space_letter, space, *s)))
		return 1;
	if (flags & UNESCAPE_OCTAL) {
		for (; n < 3 && n < room && s[n] >= '0' && s[n] <= '7' && value < 32; n++)
			value = value * 8 + (s[n] - '0');
		*to = (char)value;
		if (n)
			return n;
	}
	if ((flags & UNESCAPE_HEX) && *s == 'x') {
		for (n = 1; n < 3 && n < room && isxdigit(s[n]); n++)
			value = value * 16 + hex_to_bin((unsigned char)s[n]);
		*to = (char)value;
		if (n > 1)
			return n;
	}
	if ((flags & UNESCAPE_SPECIAL) && (*to = other(special_letter, special, *s)))
		return 1;
	return 0;
}

int string_unescape(char *src, char *dst, size_t size, unsigned int flags)
{
	char *out = dst;
	size_t left = size ?: SIZE_MAX;

	while (*src && --left) {
		size_t len = 0;
		char c;

		if (src[0] == '\\' && src[1] && left > 1)
			len = read_escape(src + 1, SIZE_MAX, flags, &c);
		if (len) {
			src += 1 + len;
			left--;
			*out++ = c;
			continue;
		}
		if (src[0] == '\\' && src[1] && left > 1) {
			/* A backslash that begins nothing stands for itself, with what is behind it. */
			*out++ = *src++;
			left--;
		}
		*out++ = *src++;
	}
	*out = '\0';
	return (int)(out - dst);
}

/* Whether a character stays as it is, whatever kinds of escapes there are. */
static bool stays(unsigned char c, unsigned int flags, const char *only)
{
	/* The zero byte counts as one of any list. */
	bool listed = only && *only && strchr(only, (char)c), append = flags & ESCAPE_APPEND;

	if (only && *only && !append && !listed)
		return true;
	if (append && listed)
		return false;
	return ((flags & ESCAPE_NAP) && isascii(c) && isprint(c)) || ((flags & ESCAPE_NP) && isprint(c)) ||
	       ((flags & ESCAPE_NA) && isascii(c));
}

/* Writes what stands for a character; returns its length. */
static size_t escape(unsigned char c, unsigned int flags, char to[5])
{
	char letter;

	to[0] = '\\';
	to[1] = letter = other(space, space_letter, (char)c);
	if ((flags & ESCAPE_SPACE) && letter)
		return 2;
	to[1] = letter = other(special, special_letter, (char)c);
	if ((flags & ESCAPE_SPECIAL) && letter)
		return 2;
	to[1] = '0';
	if ((flags & ESCAPE_NULL) && !c)
		return 2;
	if (flags & ESCAPE_OCTAL) {
		snprintf(to + 1, 4, "%03o", c);
		return 4;
	}
	if (flags & ESCAPE_HEX) {
		to[1] = 'x';
		to[2] = hex_asc[c >> 4];
		to[3] = hex_asc[c & 15];
		return 4;
	}
	to[0] = (char)c;
	return 1;
}

int string_escape_mem(const char *src, size_t isz, char *dst, size_t osz, unsigned int flags, const char *only)
{
	size_t total = 0, i;
	char text[5];

	while (isz--) {
		unsigned char c = (unsigned char)*src++;
		size_t len = 1;

		text[0] = (char)c;
		if (!stays(c, flags, only))
			len = escape(c, flags, text);
		for (i = 0; i < len; i++, total++)
			if (total < osz)
				dst[total] = text[i];
	}
	return (int)total;
}

/* Divides a number of two words by a small one; returns the rest. */
static unsigned int divide(unsigned __int128 *n, unsigned int by)
{
	u64 high = (u64)(*n >> 64), low = (u64)*n, rest, upper, lower;

	rest = high % by;
	upper = rest << 32 | low >> 32;
	rest = upper % by;
	lower = rest << 32 | (u32)low;
	*n = (unsigned __int128)(high / by) << 64 | (upper / by) << 32 | lower / by;
	return (unsigned int)(lower % by);
}

/* Three digits, the last rounded. */
int string_get_size(u64 size, u64 blk_size, const enum string_size_units units, char *buf, int len)
{
	static const char *const names[2][9] = {
		{ "", "k", "M", "G", "T", "P", "E", "Z", "Y" },
		{ "", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei", "Zi", "Yi" },
	};
	unsigned int by = units & STRING_UNITS_MASK ? 1024 : 1000, power = 0, whole, parts = 0, digits = 0, unit;
	unsigned __int128 bytes = (unsigned __int128)size * blk_size;
	char fraction[8] = "";

	for (; bytes >= by; power++)
		parts = divide(&bytes, by) * 1000 / by;
	whole = (unsigned int)bytes;
	if (power && whole < 100)
		digits = whole < 10 ? 2 : 1;
	unit = digits == 2 ? 10 : digits == 1 ? 100 : 1000;
	if (power) {
		parts += unit / 2;
		whole += parts / 1000;
		parts = parts % 1000 / unit;
	}
	if (digits)
		snprintf(fraction, sizeof(fraction), ".%0*u", (int)digits, parts);
	return snprintf(buf, (size_t)len, "%u%s%s%s%s", whole, fraction, units & STRING_UNITS_NO_SPACE ? "" : " ",
			names[by == 1024][power], units & STRING_UNITS_NO_BYTES ? "" : "B");
}
