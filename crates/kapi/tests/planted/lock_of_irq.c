// locks in both orders: lock `lock` is taken in the handler of an interrupt, and with interrupts enabled at begin
// do: irq 11
#include <linux/module.h>
#include <linux/interrupt.h>
#include <linux/spinlock.h>

static DEFINE_SPINLOCK(lock);
static int cookie;

static irqreturn_t handler(int irq, void *dev)
{
	spin_lock(&lock); // in
	spin_unlock(&lock);
	return IRQ_HANDLED;
}

static int __init begin(void)
{
	spin_lock(&lock);
	spin_unlock(&lock);
	return request_irq(11, handler, IRQF_SHARED, "planted", &cookie);
}

static void __exit end(void)
{
	free_irq(11, &cookie);
}

module_init(begin);
module_exit(end);
MODULE_LICENSE("GPL");
