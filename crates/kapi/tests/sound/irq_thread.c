// Nothing is wrong here: irq thread.
// do: irq 12
#include <linux/module.h>
#include <linux/interrupt.h>
#include <linux/mutex.h>
#include <linux/slab.h>

static DEFINE_MUTEX(lock);
static int cookie, count;

static irqreturn_t quick(int irq, void *dev)
{
	return IRQ_WAKE_THREAD;
}

static irqreturn_t slow(int irq, void *dev)
{
	void *p = kmalloc(10, GFP_KERNEL);

	mutex_lock(&lock);
	count++;
	mutex_unlock(&lock);
	kfree(p);
	return IRQ_HANDLED;
}

static int __init begin(void)
{
	return request_threaded_irq(12, quick, slow, IRQF_ONESHOT, "sound", &cookie);
}

static void __exit end(void)
{
	free_irq(12, &cookie);
}

module_init(begin);
module_exit(end);
MODULE_LICENSE("GPL");
