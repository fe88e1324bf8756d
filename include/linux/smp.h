/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* CPUs. Every thread of the module belongs to one simulated CPU. */
#ifndef _LINUX_SMP_H
#define _LINUX_SMP_H

#include <linux/types.h>
#include <linux/cpumask.h>
#include <linux/preempt.h>

extern int smp_processor_id(void);
#define raw_smp_processor_id() smp_processor_id()
#define __smp_processor_id() smp_processor_id()
#define get_cpu() ({ \
	preempt_disable(); \
	smp_processor_id(); })
#define put_cpu() preempt_enable()
#define NR_CPUS CONFIG_NR_CPUS

typedef void (*smp_call_func_t)(void *info);
extern int on_each_cpu(smp_call_func_t func, void *info, int wait);
extern int smp_call_function_single(int cpu, smp_call_func_t func, void *info, int wait);

#endif
