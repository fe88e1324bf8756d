/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Character classes (ASCII). */
#ifndef _LINUX_CTYPE_H
#define _LINUX_CTYPE_H

#define isdigit(c) ((unsigned char)(c) >= '0' && (unsigned char)(c) <= '9')
#define isupper(c) ((unsigned char)(c) >= 'A' && (unsigned char)(c) <= 'Z')
#define islower(c) ((unsigned char)(c) >= 'a' && (unsigned char)(c) <= 'z')
#define isalpha(c) (isupper(c) || islower(c))
#define isalnum(c) (isalpha(c) || isdigit(c))
#define isspace(c) ((c) == ' ' || ((unsigned char)(c) >= '\t' && (unsigned char)(c) <= '\r'))
#define isxdigit(c) (isdigit(c) || (((c) | 32) >= 'a' && ((c) | 32) <= 'f'))
#define isprint(c) ((unsigned char)(c) >= ' ' && (unsigned char)(c) < 127)
#define isgraph(c) ((unsigned char)(c) > ' ' && (unsigned char)(c) < 127)
#define ispunct(c) (isgraph(c) && !isalnum(c))
#define iscntrl(c) ((unsigned char)(c) < ' ' || (unsigned char)(c) == 127)
#define isascii(c) ((unsigned char)(c) < 128)

static inline int tolower(int c) { return isupper(c) ? c + 32 : c; }
static inline int toupper(int c) { return islower(c) ? c - 32 : c; }

#endif
