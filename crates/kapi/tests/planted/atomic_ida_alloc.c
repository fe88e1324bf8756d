// sleep in atomic context: ida_alloc_range() may sleep, with interrupts disabled
#include <linux/module.h>
#include <linux/idr.h>
#include <linux/irqflags.h>

static DEFINE_IDA(numbers);

static int __init begin(void)
{
	unsigned long flags;
	int number;

	local_irq_save(flags);
	number = ida_alloc(&numbers, GFP_KERNEL); // in
	local_irq_restore(flags);
	ida_free(&numbers, (unsigned int)number);
	return 0;
}

static void __exit end(void)
{
}

module_init(begin);
module_exit(end);
MODULE_LICENSE("GPL");
