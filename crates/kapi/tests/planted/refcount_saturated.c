// reference count: refcount_t: saturated; leaking memory
#include <linux/module.h>
#include <linux/refcount.h>

static refcount_t refs = REFCOUNT_INIT(INT_MAX);

static int __init begin(void)
{
	refcount_inc(&refs); // in
	return 0;
}

static void __exit end(void)
{
}

module_init(begin);
module_exit(end);
MODULE_LICENSE("GPL");
