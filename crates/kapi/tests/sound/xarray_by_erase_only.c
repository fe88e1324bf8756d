// Nothing is wrong here: xarray by erase only.
#include <linux/module.h>
#include <linux/xarray.h>

static DEFINE_XARRAY(array);

static int __init begin(void)
{
	unsigned long i;

	for (i = 0; i < 3000; i += 7)
		if (xa_err(xa_store(&array, i, xa_mk_value(i), GFP_KERNEL)))
			return -ENOMEM;
	for (i = 0; i < 3000; i += 7)
		xa_erase(&array, i);
	return xa_empty(&array) ? 0 : -EINVAL;
}

static void __exit end(void)
{
}

module_init(begin);
module_exit(end);
MODULE_LICENSE("GPL");
