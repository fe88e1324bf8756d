/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Printing into memory, with the kernel's own %p variants. */
#ifndef _LINUX_SPRINTF_H
#define _LINUX_SPRINTF_H

#include <linux/stdarg.h>
#include <linux/types.h>

extern int sprintf(char *buf, const char *fmt, ...);
extern int vsprintf(char *buf, const char *fmt, va_list args);
extern int snprintf(char *buf, size_t size, const char *fmt, ...);
extern int vsnprintf(char *buf, size_t size, const char *fmt, va_list args);
extern int scnprintf(char *buf, size_t size, const char *fmt, ...);
extern int vscnprintf(char *buf, size_t size, const char *fmt, va_list args);
extern char *kasprintf(gfp_t gfp, const char *fmt, ...);
extern char *kvasprintf(gfp_t gfp, const char *fmt, va_list args);
extern int sscanf(const char *buf, const char *fmt, ...);
extern int vsscanf(const char *buf, const char *fmt, va_list args);

#endif
