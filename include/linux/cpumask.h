/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Sets of CPUs. All CPUs of the machine are possible, present and online. */
#ifndef _LINUX_CPUMASK_H
#define _LINUX_CPUMASK_H

#include <linux/types.h>
#include <linux/kconfig.h>

extern unsigned int nr_cpu_ids;

typedef struct cpumask {
	DECLARE_BITMAP(bits, CONFIG_NR_CPUS);
} cpumask_t;

#define num_online_cpus() nr_cpu_ids
#define num_possible_cpus() nr_cpu_ids
#define num_present_cpus() nr_cpu_ids
#define num_active_cpus() nr_cpu_ids
#define cpu_online(cpu) ((unsigned int)(cpu) < nr_cpu_ids)
#define cpu_possible(cpu) cpu_online(cpu)
#define cpu_present(cpu) cpu_online(cpu)
#define for_each_online_cpu(cpu) for ((cpu) = 0; (unsigned int)(cpu) < nr_cpu_ids; (cpu)++)
#define for_each_possible_cpu(cpu) for_each_online_cpu(cpu)
#define for_each_present_cpu(cpu) for_each_online_cpu(cpu)
#define for_each_cpu(cpu, mask) \
	for_each_online_cpu(cpu) \
		if (!cpumask_test_cpu(cpu, mask)) { \
		} else

static inline void cpumask_set_cpu(unsigned int cpu, struct cpumask *mask)
{
	mask->bits[cpu / 64] |= 1UL << (cpu % 64);
}

static inline void cpumask_clear_cpu(unsigned int cpu, struct cpumask *mask)
{
	mask->bits[cpu / 64] &= ~(1UL << (cpu % 64));
}

static inline bool cpumask_test_cpu(int cpu, const struct cpumask *mask)
{
	return mask->bits[cpu / 64] >> (cpu % 64) & 1;
}

#endif
