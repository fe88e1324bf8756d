// locks in both orders: lock `first` is taken with lock `second` held
#include <linux/module.h>
#include <linux/spinlock.h>

static DEFINE_SPINLOCK(first);
static DEFINE_SPINLOCK(second);

static int __init begin(void)
{
	unsigned long flags;

	spin_lock(&first);
	spin_lock(&second);
	spin_unlock(&second);
	spin_unlock(&first);
	spin_lock_irqsave(&second, flags);
	spin_lock(&first); // in
	spin_unlock(&first);
	spin_unlock_irqrestore(&second, flags);
	return 0;
}

static void __exit end(void)
{
}

module_init(begin);
module_exit(end);
MODULE_LICENSE("GPL");
