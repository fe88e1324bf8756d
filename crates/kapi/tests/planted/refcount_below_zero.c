// reference count: refcount_t: underflow; use-after-free
#include <linux/module.h>
#include <linux/refcount.h>

static refcount_t refs = REFCOUNT_INIT(1);

static int __init begin(void)
{
	if (refcount_dec_and_test(&refs))
		refcount_dec_and_test(&refs); // in
	return 0;
}

static void __exit end(void)
{
}

module_init(begin);
module_exit(end);
MODULE_LICENSE("GPL");
