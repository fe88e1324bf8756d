/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Sets of CPUs. All CPUs of the machine are possible, present and online. */
#ifndef _LINUX_CPUMASK_H
#define _LINUX_CPUMASK_H

#include <linux/array_size.h>
#include <linux/bitmap.h>
#include <linux/kconfig.h>
#include <linux/types.h>

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
/* CPUs neither come nor go. */
static inline void cpu_hotplug_disable(void) { }
static inline void cpu_hotplug_enable(void) { }
static inline void cpus_read_lock(void) { }
static inline int cpus_read_trylock(void) { return 1; }
static inline void cpus_read_unlock(void) { }
#define nr_cpumask_bits nr_cpu_ids
#define cpumask_bits(mask) ((mask)->bits)
#define cpumask_pr_args(mask) nr_cpu_ids, cpumask_bits(mask)
/* Sets that do not change while a module runs. */
extern struct cpumask kapi_all_cpus;
#define cpu_possible_mask ((const struct cpumask *)&kapi_all_cpus)
#define cpu_present_mask cpu_possible_mask
#define cpu_online_mask cpu_possible_mask
#define cpu_active_mask cpu_possible_mask
#define cpu_all_mask cpu_possible_mask

/* In order, of those for which the condition holds; it is looked at before each step. */
#define __KAPI_CPUS(cpu, condition) \
	for_each_online_cpu(cpu) \
		if (!(condition)) { \
		} else
#define for_each_cpu(cpu, mask) __KAPI_CPUS(cpu, cpumask_test_cpu(cpu, mask))
#define for_each_cpu_not(cpu, mask) __KAPI_CPUS(cpu, !cpumask_test_cpu(cpu, mask))
#define for_each_cpu_and(cpu, a, b) __KAPI_CPUS(cpu, cpumask_test_cpu(cpu, a) && cpumask_test_cpu(cpu, b))
#define for_each_cpu_andnot(cpu, a, b) __KAPI_CPUS(cpu, cpumask_test_cpu(cpu, a) && !cpumask_test_cpu(cpu, b))
#define for_each_cpu_or(cpu, a, b) __KAPI_CPUS(cpu, cpumask_test_cpu(cpu, a) || cpumask_test_cpu(cpu, b))
/* From @start on, and from the first one to it. */
#define for_each_cpu_wrap(cpu, mask, start) \
	for (unsigned int __kapi_step = 0; \
	     __kapi_step < nr_cpu_ids && ((cpu) = ((start) + __kapi_step) % nr_cpu_ids, true); __kapi_step++) \
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

static inline bool cpumask_test_and_set_cpu(int cpu, struct cpumask *mask) { return test_and_set_bit(cpu, mask->bits); }
static inline void cpumask_setall(struct cpumask *mask)
{
	bitmap_zero(mask->bits, CONFIG_NR_CPUS);
	bitmap_set(mask->bits, 0, nr_cpu_ids);
}
static inline void cpumask_clear(struct cpumask *mask) { bitmap_zero(mask->bits, CONFIG_NR_CPUS); }
static inline void cpumask_copy(struct cpumask *dst, const struct cpumask *src) { *dst = *src; }
static inline bool cpumask_empty(const struct cpumask *mask) { return bitmap_empty(mask->bits, nr_cpu_ids); }
static inline bool cpumask_full(const struct cpumask *mask) { return bitmap_full(mask->bits, nr_cpu_ids); }
static inline bool cpumask_equal(const struct cpumask *a, const struct cpumask *b)
{
	return bitmap_equal(a->bits, b->bits, nr_cpu_ids);
}
static inline unsigned int cpumask_weight(const struct cpumask *mask)
{
	return (unsigned int)bitmap_weight(mask->bits, nr_cpu_ids);
}

/* Return: whether any CPU is in the result. */
#define __KAPI_CPU_SETS(name, op) \
	static inline bool cpumask_##name(struct cpumask *dst, const struct cpumask *a, const struct cpumask *b) \
	{ \
		unsigned int i; \
		for (i = 0; i < ARRAY_SIZE(dst->bits); i++) \
			dst->bits[i] = a->bits[i] op b->bits[i]; \
		return !cpumask_empty(dst); \
	}
__KAPI_CPU_SETS(and, &)
__KAPI_CPU_SETS(andnot, & ~)
__KAPI_CPU_SETS(or, |)
__KAPI_CPU_SETS(xor, ^)

/* Return: a CPU, or nr_cpu_ids and more if there is none. */
static inline unsigned int cpumask_first(const struct cpumask *mask)
{
	return (unsigned int)find_first_bit(mask->bits, nr_cpu_ids);
}
static inline unsigned int cpumask_first_zero(const struct cpumask *mask)
{
	return (unsigned int)find_first_zero_bit(mask->bits, nr_cpu_ids);
}
static inline unsigned int cpumask_last(const struct cpumask *mask)
{
	return (unsigned int)find_last_bit(mask->bits, nr_cpu_ids);
}
static inline unsigned int cpumask_next(int cpu, const struct cpumask *mask)
{
	return (unsigned int)find_next_bit(mask->bits, nr_cpu_ids, (unsigned int)(cpu + 1));
}
static inline unsigned int cpumask_next_zero(int cpu, const struct cpumask *mask)
{
	return (unsigned int)find_next_zero_bit(mask->bits, nr_cpu_ids, (unsigned int)(cpu + 1));
}
#define cpumask_of(cpu) ((const struct cpumask *)&(struct cpumask){ { [(cpu) / 64] = 1UL << ((cpu) % 64) } })

#endif
