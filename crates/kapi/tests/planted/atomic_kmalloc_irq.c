// sleep in atomic context: kmalloc() with GFP_KERNEL may sleep, in the handler of an interrupt
// do: irq 11
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/interrupt.h>

static int cookie;

static irqreturn_t handler(int irq, void *dev)
{
	void *volatile p = kmalloc(64, GFP_KERNEL); // in

	kfree(p);
	return IRQ_HANDLED;
}

static int __init begin(void)
{
	return request_irq(11, handler, IRQF_SHARED, "planted", &cookie);
}

static void __exit end(void)
{
	free_irq(11, &cookie);
}

module_init(begin);
module_exit(end);
MODULE_LICENSE("GPL");
