/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Words for values, sizes for people, and characters as escapes and back.
 *
 * Linux counterpart: include/linux/string_helpers.h @ 6.12.
 */
#ifndef _LINUX_STRING_HELPERS_H
#define _LINUX_STRING_HELPERS_H

#include <linux/bits.h>
#include <linux/ctype.h>
#include <linux/string.h>
#include <linux/string_choices.h>
#include <linux/types.h>

/* Powers of 1000 or of 1024; the flags leave out the blank, and the B for bytes. */
enum string_size_units {
	STRING_UNITS_10,
	STRING_UNITS_2,
	STRING_UNITS_MASK = 1,
	STRING_UNITS_NO_SPACE = 1 << 30,
	STRING_UNITS_NO_BYTES = 1 << 31,
};
extern int string_get_size(u64 size, u64 blk_size, const enum string_size_units units, char *buf, int len);

/* What is turned back: \f \n \r \t \v, up to three octal digits, \x and up to two digits, and \" \\ \a \e. */
#define UNESCAPE_SPACE BIT(0)
#define UNESCAPE_OCTAL BIT(1)
#define UNESCAPE_HEX BIT(2)
#define UNESCAPE_SPECIAL BIT(3)
#define UNESCAPE_ANY (UNESCAPE_SPACE | UNESCAPE_OCTAL | UNESCAPE_HEX | UNESCAPE_SPECIAL)
#define UNESCAPE_ALL_MASK GENMASK(3, 0)

/* What becomes an escape: but for what is printable (NP), ASCII (NA), or both (NAP); with @only, but for the others. */
#define ESCAPE_SPACE BIT(0)
#define ESCAPE_SPECIAL BIT(1)
#define ESCAPE_NULL BIT(2)
#define ESCAPE_OCTAL BIT(3)
#define ESCAPE_ANY (ESCAPE_SPACE | ESCAPE_OCTAL | ESCAPE_SPECIAL | ESCAPE_NULL)
#define ESCAPE_NP BIT(4)
#define ESCAPE_ANY_NP (ESCAPE_ANY | ESCAPE_NP)
#define ESCAPE_HEX BIT(5)
#define ESCAPE_NA BIT(6)
#define ESCAPE_NAP BIT(7)
/* @only is what becomes an escape beside what the other flags say. */
#define ESCAPE_APPEND BIT(8)
#define ESCAPE_ALL_MASK GENMASK(8, 0)

/* @size 0: without a limit. Returns the length without the zero byte. */
extern int string_unescape(char *src, char *dst, size_t size, unsigned int flags);
/* Returns the length that all would have; writes no zero byte. */
extern int string_escape_mem(const char *src, size_t isz, char *dst, size_t osz, unsigned int flags, const char *only);

static inline int string_unescape_inplace(char *buf, unsigned int flags) { return string_unescape(buf, buf, 0, flags); }
static inline int string_unescape_any(char *src, char *dst, size_t size)
{
	return string_unescape(src, dst, size, UNESCAPE_ANY);
}
static inline int string_unescape_any_inplace(char *buf) { return string_unescape_any(buf, buf, 0); }
static inline int string_escape_mem_any_np(const char *src, size_t isz, char *dst, size_t osz, const char *only)
{
	return string_escape_mem(src, isz, dst, osz, ESCAPE_ANY_NP, only);
}
static inline int string_escape_str(const char *src, char *dst, size_t sz, unsigned int flags, const char *only)
{
	return string_escape_mem(src, strlen(src), dst, sz, flags, only);
}

static inline void string_upper(char *dst, const char *src)
{
	do
		*dst++ = (char)toupper(*src);
	while (*src++);
}
static inline void string_lower(char *dst, const char *src)
{
	do
		*dst++ = (char)tolower(*src);
	while (*src++);
}

#endif
