// Nothing is wrong here: xarray emptied.
#include <linux/module.h>
#include <linux/xarray.h>
#include <linux/slab.h>
#include <linux/spinlock.h>

static DEFINE_XARRAY_ALLOC(array);

static int __init begin(void)
{
	unsigned long index;
	u32 id;
	int *p;
	int i;

	for (i = 0; i < 100; i++) {
		p = kmalloc(sizeof(*p), GFP_KERNEL);
		if (!p || xa_alloc(&array, &id, p, xa_limit_31b, GFP_KERNEL))
			return -ENOMEM;
		*p = (int)id;
	}
	xa_lock(&array);
	__xa_store(&array, 1000, xa_mk_value(1), GFP_ATOMIC);
	xa_unlock(&array);
	xa_erase(&array, 1000);
	xa_for_each(&array, index, p) {
		xa_erase(&array, index);
		kfree(p);
	}
	return 0;
}

static void __exit end(void)
{
	xa_destroy(&array);
}

module_init(begin);
module_exit(end);
MODULE_LICENSE("GPL");
