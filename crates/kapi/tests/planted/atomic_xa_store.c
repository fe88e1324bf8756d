// sleep in atomic context: xa_store() may sleep, under a spinlock
#include <linux/module.h>
#include <linux/xarray.h>
#include <linux/spinlock.h>

static DEFINE_SPINLOCK(lock);
static DEFINE_XARRAY(array);

static int __init begin(void)
{
	spin_lock(&lock);
	xa_store(&array, 1, xa_mk_value(1), GFP_KERNEL); // in
	spin_unlock(&lock);
	xa_destroy(&array);
	return 0;
}

static void __exit end(void)
{
}

module_init(begin);
module_exit(end);
MODULE_LICENSE("GPL");
