// Nothing is wrong here: idr and ida.
#include <linux/module.h>
#include <linux/idr.h>
#include <linux/slab.h>
#include <linux/spinlock.h>

static DEFINE_IDR(idr);
static DEFINE_IDA(ida);
static DEFINE_SPINLOCK(lock);
static int thing;

static int __init begin(void)
{
	int id, number;

	idr_preload(GFP_KERNEL);
	spin_lock(&lock);
	id = idr_alloc(&idr, &thing, 10, 0, GFP_NOWAIT);
	spin_unlock(&lock);
	idr_preload_end();
	number = ida_alloc(&ida, GFP_KERNEL);
	if (id < 0 || number < 0)
		return -ENOMEM;
	idr_remove(&idr, id);
	ida_free(&ida, (unsigned int)number);
	return 0;
}

static void __exit end(void)
{
	idr_destroy(&idr);
	ida_destroy(&ida);
}

module_init(begin);
module_exit(end);
MODULE_LICENSE("GPL");
