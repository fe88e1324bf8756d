// left behind: the interrupt's handler `planted` is still there
#include <linux/module.h>
#include <linux/interrupt.h>

static int cookie;

static irqreturn_t handler(int irq, void *dev)
{
	return IRQ_HANDLED;
}

static int __init begin(void)
{
	return request_irq(11, handler, IRQF_SHARED, "planted", &cookie); // in
}

static void __exit end(void)
{
}

module_init(begin);
module_exit(end);
MODULE_LICENSE("GPL");
