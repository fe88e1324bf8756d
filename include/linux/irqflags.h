/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Interrupts off and on: nothing interrupts a thread here, but sleeping is forbidden while they are off. */
#ifndef _LINUX_IRQFLAGS_H
#define _LINUX_IRQFLAGS_H

#include <linux/preempt.h>

#define local_irq_save(flags) ((flags) = kapi_irq_save())
#define local_irq_restore(flags) kapi_irq_restore(flags)
#define local_irq_disable() ((void)kapi_irq_save())
#define local_irq_enable() kapi_irq_restore(0)
#define local_save_flags(flags) ((flags) = (unsigned long)kapi_irqs_off())
#define irqs_disabled() kapi_irqs_off()
#define local_bh_disable() kapi_bh_disable()
#define local_bh_enable() kapi_bh_enable()
/* Names of 2.4 and early 2.6. */
#define save_flags(flags) local_save_flags(flags)
#define restore_flags(flags) local_irq_restore(flags)
#define cli() local_irq_disable()
#define sti() local_irq_enable()

#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 5, 0)
DEFINE_LOCK_GUARD_0(irq, local_irq_disable(), local_irq_enable())
DEFINE_LOCK_GUARD_0(irqsave, local_irq_save(_T->flags), local_irq_restore(_T->flags), unsigned long flags)
#endif

#endif
