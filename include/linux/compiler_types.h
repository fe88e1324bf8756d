/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* See compiler.h. */
#ifndef _LINUX_COMPILER_TYPES_H
#define _LINUX_COMPILER_TYPES_H

#include <linux/compiler.h>

#endif
