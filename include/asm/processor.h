/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The processor, as far as a module sees it. */
#ifndef _ASM_PROCESSOR_H
#define _ASM_PROCESSOR_H

#include <linux/compiler.h>
#include <linux/types.h>

#if defined(__x86_64__)
#define cpu_relax() __asm__ __volatile__("pause" : : : "memory")
#else
#define cpu_relax() barrier()
#endif
#define rep_nop() cpu_relax()

#endif
