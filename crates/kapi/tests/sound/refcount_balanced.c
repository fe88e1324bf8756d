// Nothing is wrong here: refcount balanced.
#include <linux/module.h>
#include <linux/refcount.h>
#include <linux/slab.h>

static refcount_t users = REFCOUNT_INIT(1);

static int __init begin(void)
{
	refcount_inc(&users);
	refcount_add(2, &users);
	refcount_dec(&users);
	refcount_dec(&users);
	return refcount_dec_and_test(&users) ? -EINVAL : 0;
}

static void __exit end(void)
{
	WARN_ON(!refcount_dec_and_test(&users));
}

module_init(begin);
module_exit(end);
MODULE_LICENSE("GPL");
