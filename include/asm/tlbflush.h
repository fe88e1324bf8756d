/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* See <linux/mm.h>. */
#ifndef _ASM_TLBFLUSH_H
#define _ASM_TLBFLUSH_H

#include <linux/mm.h>

#endif
