// leak
#include <linux/module.h>
#include <linux/xarray.h>
#include <linux/slab.h>

static DEFINE_XARRAY(array);

static int __init begin(void)
{
	xa_store(&array, 70, xa_mk_value(1), GFP_KERNEL); // allocated by
	return 0;
}

static void __exit end(void)
{
}

module_init(begin);
module_exit(end);
MODULE_LICENSE("GPL");
