/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* See <asm/page.h>. */
#ifndef _ASM_PGTABLE_H
#define _ASM_PGTABLE_H

#include <asm/page.h>

#endif
