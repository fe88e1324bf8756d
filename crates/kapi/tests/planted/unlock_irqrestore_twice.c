// unlock without a lock
#include <linux/module.h>
#include <linux/spinlock.h>

static DEFINE_SPINLOCK(lock);

static int __init begin(void)
{
	unsigned long flags;

	spin_lock_irqsave(&lock, flags);
	spin_unlock_irqrestore(&lock, flags);
	spin_unlock_irqrestore(&lock, flags); // in
	return 0;
}

static void __exit end(void)
{
}

module_init(begin);
module_exit(end);
MODULE_LICENSE("GPL");
