/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* get_cycles(): the time stamp counter. */
#ifndef _ASM_TIMEX_H
#define _ASM_TIMEX_H

#include <linux/types.h>
#include <asm/msr.h>

typedef unsigned long long cycles_t;

static __always_inline cycles_t get_cycles(void) { return __kapi_rdtsc(); }
#define random_get_entropy() ((unsigned long)get_cycles())

extern unsigned int cpu_khz;
extern unsigned int tsc_khz;

#endif
