/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Where sleeping is forbidden. The host counts it per thread, with the place that began it. */
#ifndef _LINUX_PREEMPT_H
#define _LINUX_PREEMPT_H

#include <linux/compiler.h>
#include <linux/types.h>
#include <linux/version.h>

extern void kapi_atomic_enter(void);
extern void kapi_atomic_exit(void);
extern unsigned int kapi_atomic_depth(void);
extern unsigned long kapi_irq_save(void);
extern void kapi_irq_restore(unsigned long flags);
extern unsigned int kapi_preempt_count(void);
extern int kapi_irqs_off(void);
extern int kapi_in_softirq(void);
extern int kapi_in_hardirq(void);
extern void kapi_bh_disable(void);
extern void kapi_bh_enable(void);

#define preempt_disable() kapi_atomic_enter()
#define preempt_enable() kapi_atomic_exit()
#define preempt_enable_no_resched() kapi_atomic_exit()
#define preempt_disable_notrace() kapi_atomic_enter()
#define preempt_enable_notrace() kapi_atomic_exit()
#define PREEMPT_MASK 0x000000ffU
#define SOFTIRQ_MASK 0x0000ff00U
#define HARDIRQ_MASK 0x000f0000U
#define preempt_count() kapi_preempt_count()
#define hardirq_count() (preempt_count() & HARDIRQ_MASK)
#define softirq_count() (preempt_count() & SOFTIRQ_MASK)
#define irq_count() (preempt_count() & (SOFTIRQ_MASK | HARDIRQ_MASK))
#define preemptible() (!preempt_count() && !kapi_irqs_off())
#define in_atomic() (preempt_count() != 0)
#define in_softirq() (softirq_count())
#define in_serving_softirq() kapi_in_softirq()
#define in_interrupt() (irq_count())
#define in_irq() kapi_in_hardirq()
#define in_hardirq() kapi_in_hardirq()
#define in_task() (!in_interrupt())
#define in_nmi() 0
#define migrate_disable() ((void)0)
#define migrate_enable() ((void)0)

#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 5, 0)
#include <linux/cleanup.h>
DEFINE_LOCK_GUARD_0(preempt, preempt_disable(), preempt_enable())
DEFINE_LOCK_GUARD_0(preempt_notrace, preempt_disable_notrace(), preempt_enable_notrace())
DEFINE_LOCK_GUARD_0(migrate, migrate_disable(), migrate_enable())
#endif

#endif
