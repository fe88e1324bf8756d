// sleep in atomic context: down_interruptible() may sleep, with interrupts disabled
#include <linux/module.h>
#include <linux/semaphore.h>
#include <linux/irqflags.h>

static struct semaphore sem = __SEMAPHORE_INITIALIZER(sem, 1);

static int __init begin(void)
{
	unsigned long flags;

	local_irq_save(flags);
	if (!down_interruptible(&sem)) // in
		up(&sem);
	local_irq_restore(flags);
	return 0;
}

static void __exit end(void)
{
}

module_init(begin);
module_exit(end);
MODULE_LICENSE("GPL");
