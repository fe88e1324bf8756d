// SPDX-License-Identifier: MIT OR Apache-2.0
// Work for interrupt context: a tasklet each.
#include "host.h"
#include <linux/irq_work.h>
#include <linux/kernel.h>

void kapi_irq_work(struct tasklet_struct *tasklet)
{
	struct irq_work *work = container_of(tasklet, struct irq_work, kapi_tasklet);

	work->func(work);
}

bool irq_work_queue(struct irq_work *work)
{
	bool pending = irq_work_is_pending(work);

	if (!pending)
		tasklet_schedule(&work->kapi_tasklet);
	return !pending;
}

void irq_work_sync(struct irq_work *work) { tasklet_kill(&work->kapi_tasklet); }
