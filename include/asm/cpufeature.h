/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What every processor of the machine has, as far as modules that only compute ask. */
#ifndef _ASM_CPUFEATURE_H
#define _ASM_CPUFEATURE_H

#include <linux/types.h>

/* Each is a number of a word, times 32, and of a bit. */
#define X86_FEATURE_TSC (0 * 32 + 4)
#define X86_FEATURE_CX8 (0 * 32 + 8)
#define X86_FEATURE_XMM (0 * 32 + 25)
#define X86_FEATURE_XMM2 (0 * 32 + 26)
#define X86_FEATURE_LM (1 * 32 + 29)

/* These belong to every processor of 64 bits; of others nothing is said. */
static inline bool boot_cpu_has(unsigned int feature)
{
	return feature == X86_FEATURE_TSC || feature == X86_FEATURE_CX8 || feature == X86_FEATURE_XMM ||
	       feature == X86_FEATURE_XMM2 || feature == X86_FEATURE_LM;
}
#define cpu_has(cpu, feature) boot_cpu_has(feature)
#define static_cpu_has(feature) boot_cpu_has(feature)

#endif
