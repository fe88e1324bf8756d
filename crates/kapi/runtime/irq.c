// SPDX-License-Identifier: MIT OR Apache-2.0
// Interrupts: handlers by number. No device raises one; a step of --do does.
#include "host.h"
#include <linux/interrupt.h>
#include <linux/irqflags.h>
#include <linux/kernel.h>
#include <linux/list.h>
#include <linux/slab.h>
#include <linux/spinlock.h>

struct action {
	struct list_head list;
	unsigned int irq;
	irq_handler_t handler, thread_fn;
	unsigned long flags;
	const char *name;
	void *dev;
};

static LIST_HEAD(actions);
static DEFINE_SPINLOCK(lock);
static atomic_t disabled[KAPI_IRQS];

static struct action *find(unsigned int irq, const void *dev)
{
	struct action *a;

	list_for_each_entry(a, &actions, list)
		if (a->irq == irq && (!dev || a->dev == dev))
			return a;
	return NULL;
}

int request_threaded_irq(unsigned int irq, irq_handler_t handler, irq_handler_t thread_fn, unsigned long flags,
			 const char *name, void *dev)
{
	struct action *a = kapi_alloc(sizeof(*a)), *other;
	unsigned long irqflags;
	int error = 0;

	might_sleep();
	if (!a)
		return -ENOMEM;
	*a = (struct action){ .irq = irq, .handler = handler, .thread_fn = thread_fn, .flags = flags, .name = name,
			      .dev = dev };
	spin_lock_irqsave(&lock, irqflags);
	other = find(irq, NULL);
	if (irq >= KAPI_IRQS || (!handler && !thread_fn) || ((flags & IRQF_SHARED) && !dev))
		error = -EINVAL;
	else if (other && !(flags & other->flags & IRQF_SHARED))
		error = -EBUSY;
	else
		list_add_tail(&a->list, &actions);
	spin_unlock_irqrestore(&lock, irqflags);
	if (error)
		kapi_free(a, sizeof(*a));
	else
		kapi_stands(a, "the interrupt's handler", name ?: "");
	return error;
}

int request_irq(unsigned int irq, irq_handler_t handler, unsigned long flags, const char *name, void *dev)
{
	return request_threaded_irq(irq, handler, NULL, flags, name, dev);
}

const void *free_irq(unsigned int irq, void *dev)
{
	struct action *a;
	const char *name;
	unsigned long flags;

	might_sleep();
	spin_lock_irqsave(&lock, flags);
	list_for_each_entry(a, &actions, list)
		if (a->irq == irq && a->dev == dev) {
			list_del(&a->list);
			spin_unlock_irqrestore(&lock, flags);
			name = a->name;
			kapi_gone(a);
			kapi_free(a, sizeof(*a));
			return name;
		}
	spin_unlock_irqrestore(&lock, flags);
	WARN(1, "Trying to free already-free IRQ %d\n", irq);
	return NULL;
}

void disable_irq_nosync(unsigned int irq) { atomic_inc(&disabled[irq % KAPI_IRQS]); }
void disable_irq(unsigned int irq) { disable_irq_nosync(irq); }
void enable_irq(unsigned int irq) { WARN(atomic_dec_return(&disabled[irq % KAPI_IRQS]) < 0, "Unbalanced enable for IRQ %d\n", irq); }
void synchronize_irq(unsigned int irq) { might_sleep(); }

/* Calls the handlers of a number, as an interrupt; the thread's function is called behind them. */
int kapi_irq_raise(unsigned int irq)
{
	struct action *a;
	unsigned long flags;
	int handled = 0;

	if (irq >= KAPI_IRQS || !find(irq, NULL))
		return -ENXIO;
	if (atomic_read(&disabled[irq]))
		return -EAGAIN;
	list_for_each_entry(a, &actions, list) {
		irqreturn_t result = IRQ_WAKE_THREAD;

		if (a->irq != irq)
			continue;
		if (a->handler) {
			local_irq_save(flags);
			kapi_hardirq_enter();
			result = a->handler((int)irq, a->dev);
			kapi_hardirq_exit();
			local_irq_restore(flags);
		}
		if (result == IRQ_WAKE_THREAD && a->thread_fn)
			result = a->thread_fn((int)irq, a->dev);
		handled += result != IRQ_NONE;
	}
	return handled;
}
