/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* See <linux/types.h>. */
#ifndef _ASM_SECTIONS_H
#define _ASM_SECTIONS_H

#include <linux/types.h>

#endif
