/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* do_div(): divides in place, returns the remainder. */
#ifndef _ASM_DIV64_H
#define _ASM_DIV64_H

#include <linux/math64.h>

#define do_div(n, base) ({ \
	u32 __kapi_base = (base); \
	u32 __kapi_rem = (u32)((u64)(n) % __kapi_base); \
	(n) = (u64)(n) / __kapi_base; \
	__kapi_rem; })
#define sector_div(n, base) do_div(n, base)

#endif
