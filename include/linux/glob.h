/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Patterns of the shell: ?, *, [a-z], [!a-z], and a backslash before what stands for itself.
 *
 * Linux counterpart: include/linux/glob.h @ 6.12. */
#ifndef _LINUX_GLOB_H
#define _LINUX_GLOB_H

#include <linux/compiler.h>
#include <linux/types.h>

extern bool __pure glob_match(const char *pat, const char *str);

#endif
