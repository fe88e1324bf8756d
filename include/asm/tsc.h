/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* See <asm/timex.h>. */
#ifndef _ASM_TSC_H
#define _ASM_TSC_H

#include <asm/timex.h>

#endif
