// Nothing is wrong here: irq freed.
// do: irq 11
// do: irq 11
#include <linux/module.h>
#include <linux/interrupt.h>
#include <linux/spinlock.h>
#include <linux/slab.h>

static DEFINE_SPINLOCK(lock);
static int cookie, count;
static void *last;

static irqreturn_t handler(int irq, void *dev)
{
	void *p = kmalloc(32, GFP_ATOMIC), *old;

	spin_lock(&lock);
	count++;
	old = last;
	last = p;
	spin_unlock(&lock);
	kfree(old);
	return IRQ_HANDLED;
}

static int __init begin(void)
{
	return request_irq(11, handler, IRQF_SHARED, "sound", &cookie);
}

static void __exit end(void)
{
	unsigned long flags;

	spin_lock_irqsave(&lock, flags);
	count = 0;
	spin_unlock_irqrestore(&lock, flags);
	free_irq(11, &cookie);
	kfree(last);
}

module_init(begin);
module_exit(end);
MODULE_LICENSE("GPL");
