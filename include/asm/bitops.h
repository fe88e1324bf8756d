/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* See <linux/bitops.h>. */
#ifndef _ASM_BITOPS_H
#define _ASM_BITOPS_H

#include <linux/bitops.h>

#endif
