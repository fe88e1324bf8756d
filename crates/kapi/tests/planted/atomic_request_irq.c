// sleep in atomic context: request_irq() may sleep, under a spinlock
#include <linux/module.h>
#include <linux/interrupt.h>
#include <linux/spinlock.h>

static DEFINE_SPINLOCK(lock);
static int result;

static irqreturn_t handle(int irq, void *data)
{
	return IRQ_HANDLED;
}

static int __init begin(void)
{
	spin_lock(&lock);
	result = request_irq(5, handle, 0, "planted", &lock); // in
	spin_unlock(&lock);
	if (!result)
		free_irq(5, &lock);
	return 0;
}

static void __exit end(void)
{
}

module_init(begin);
module_exit(end);
MODULE_LICENSE("GPL");
