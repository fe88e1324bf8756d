// sleep in atomic context: xa_insert() may sleep, under a spinlock
#include <linux/module.h>
#include <linux/xarray.h>
#include <linux/spinlock.h>

static DEFINE_SPINLOCK(lock);
static DEFINE_XARRAY(array);
static int result;

static int __init begin(void)
{
	spin_lock(&lock);
	result = xa_insert(&array, 7, xa_mk_value(1), GFP_KERNEL); // in
	spin_unlock(&lock);
	xa_destroy(&array);
	pr_info("%d\n", result);
	return 0;
}

static void __exit end(void)
{
}

module_init(begin);
module_exit(end);
MODULE_LICENSE("GPL");
