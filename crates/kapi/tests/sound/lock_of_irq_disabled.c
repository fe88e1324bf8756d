// Nothing is wrong here: lock of irq disabled.
// do: irq 11
#include <linux/module.h>
#include <linux/interrupt.h>
#include <linux/spinlock.h>

static DEFINE_SPINLOCK(lock);
static int cookie, count;

static irqreturn_t handler(int irq, void *dev)
{
	spin_lock(&lock);
	count++;
	spin_unlock(&lock);
	return IRQ_HANDLED;
}

static int __init begin(void)
{
	spin_lock_irq(&lock);
	count = 0;
	spin_unlock_irq(&lock);
	return request_irq(11, handler, IRQF_SHARED, "sound", &cookie);
}

static void __exit end(void)
{
	free_irq(11, &cookie);
}

module_init(begin);
module_exit(end);
MODULE_LICENSE("GPL");
