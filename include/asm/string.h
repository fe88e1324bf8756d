/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* See <linux/string.h>. */
#ifndef _ASM_STRING_H
#define _ASM_STRING_H

#include <linux/string.h>

#endif
