/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Work for interrupt context, asked for from anywhere: done by the thread of soft interrupts. */
#ifndef _LINUX_IRQ_WORK_H
#define _LINUX_IRQ_WORK_H

#include <linux/interrupt.h>

struct irq_work {
	struct tasklet_struct kapi_tasklet;
	void (*func)(struct irq_work *work);
};

extern void kapi_irq_work(struct tasklet_struct *tasklet);
#define IRQ_WORK_INIT(fn) { .kapi_tasklet = __KAPI_TASKLET(kapi_irq_work, 0, 1), .func = (fn) }
#define IRQ_WORK_INIT_LAZY(fn) IRQ_WORK_INIT(fn)
#define IRQ_WORK_INIT_HARD(fn) IRQ_WORK_INIT(fn)
#define DEFINE_IRQ_WORK(name, fn) struct irq_work name = IRQ_WORK_INIT(fn)
static inline void init_irq_work(struct irq_work *work, void (*func)(struct irq_work *work))
{
	*work = (struct irq_work)IRQ_WORK_INIT(func);
}

/* Return: whether it was not queued already. */
extern bool irq_work_queue(struct irq_work *work);
extern void irq_work_sync(struct irq_work *work);
#define irq_work_queue_on(work, cpu) irq_work_queue(work)
#define irq_work_is_pending(work) (READ_ONCE((work)->kapi_tasklet.state) != 0)

#endif
