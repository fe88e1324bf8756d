/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Character classes (ASCII). */
#ifndef _LINUX_CTYPE_H
#define _LINUX_CTYPE_H

/* Classes as bits, for tables of a module's own. */
#define _U 0x01
#define _L 0x02
#define _D 0x04
#define _C 0x08
#define _P 0x10
#define _S 0x20
#define _X 0x40
#define _SP 0x80

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
