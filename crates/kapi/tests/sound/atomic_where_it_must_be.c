// Nothing is wrong here: atomic where it must be.
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/rcupdate.h>
#include <linux/xarray.h>
#include <linux/idr.h>
#include <linux/timer.h>

static DEFINE_SPINLOCK(lock);
static DEFINE_XARRAY(array);
static DEFINE_IDA(ida);

static int __init begin(void)
{
	unsigned long flags;
	void *p, *q;
	int id;

	spin_lock_irqsave(&lock, flags);
	p = kmalloc(64, GFP_ATOMIC);
	id = ida_alloc(&ida, GFP_NOWAIT);
	xa_store(&array, 3, xa_mk_value(3), GFP_ATOMIC);
	spin_unlock_irqrestore(&lock, flags);
	rcu_read_lock();
	q = kzalloc(64, GFP_NOWAIT | __GFP_NOWARN);
	rcu_read_unlock();
	kfree(p);
	kfree(q);
	if (id >= 0)
		ida_free(&ida, (unsigned int)id);
	return 0;
}

static void __exit end(void)
{
	xa_destroy(&array);
}

module_init(begin);
module_exit(end);
MODULE_LICENSE("GPL");
