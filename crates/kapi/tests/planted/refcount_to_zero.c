// reference count: refcount_t: decrement hit 0; leaking memory
#include <linux/module.h>
#include <linux/refcount.h>

static refcount_t refs = REFCOUNT_INIT(1);

static int __init begin(void)
{
	refcount_dec(&refs); // in
	return 0;
}

static void __exit end(void)
{
}

module_init(begin);
module_exit(end);
MODULE_LICENSE("GPL");
