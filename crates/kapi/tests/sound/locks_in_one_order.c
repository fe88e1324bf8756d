// Nothing is wrong here: locks in one order.
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/spinlock.h>
#include <linux/rwsem.h>

static DEFINE_MUTEX(outer);
static DECLARE_RWSEM(middle);
static DEFINE_SPINLOCK(inner);

static int __init begin(void)
{
	unsigned long flags;

	mutex_lock(&outer);
	down_read(&middle);
	spin_lock_irqsave(&inner, flags);
	spin_unlock_irqrestore(&inner, flags);
	up_read(&middle);
	down_write(&middle);
	downgrade_write(&middle);
	up_read(&middle);
	mutex_unlock(&outer);
	if (down_read_trylock(&middle)) {
		/* What is tried waits for nobody, in whichever order. */
		if (mutex_trylock(&outer))
			mutex_unlock(&outer);
		up_read(&middle);
	}
	return 0;
}

static void __exit end(void)
{
}

module_init(begin);
module_exit(end);
MODULE_LICENSE("GPL");
