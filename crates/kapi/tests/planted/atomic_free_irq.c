// sleep in atomic context: free_irq() may sleep, under a spinlock
#include <linux/module.h>
#include <linux/interrupt.h>
#include <linux/spinlock.h>

static DEFINE_SPINLOCK(lock);
static int cookie;

static irqreturn_t handler(int irq, void *dev)
{
	return IRQ_HANDLED;
}

static int __init begin(void)
{
	int result = request_irq(11, handler, IRQF_SHARED, "planted", &cookie);

	if (result)
		return result;
	spin_lock(&lock);
	free_irq(11, &cookie); // in
	spin_unlock(&lock);
	return 0;
}

static void __exit end(void)
{
}

module_init(begin);
module_exit(end);
MODULE_LICENSE("GPL");
