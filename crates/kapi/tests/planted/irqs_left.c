// lock or atomic context left: init returned with interrupts disabled
#include <linux/module.h>
#include <linux/irqflags.h>

static int __init begin(void)
{
	unsigned long flags;

	local_irq_save(flags); // in
	pr_info("%d\n", irqs_disabled());
	return 0;
}

static void __exit end(void)
{
}

module_init(begin);
module_exit(end);
MODULE_LICENSE("GPL");
