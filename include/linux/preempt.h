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
#define preempt_count() kapi_atomic_depth()
#define preemptible() (!kapi_atomic_depth() && !kapi_irqs_off())
#define in_atomic() (kapi_atomic_depth() != 0)
#define in_softirq() kapi_in_softirq()
#define in_serving_softirq() kapi_in_softirq()
#define in_interrupt() (kapi_in_softirq() || kapi_in_hardirq())
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
