// reference count: refcount_t: addition on 0; use-after-free
#include <linux/module.h>
#include <linux/kref.h>

static void release(struct kref *kref)
{
}

static struct kref kref;

static int __init begin(void)
{
	kref_init(&kref);
	kref_put(&kref, release);
	kref_get(&kref); // in
	return 0;
}

static void __exit end(void)
{
}

module_init(begin);
module_exit(end);
MODULE_LICENSE("GPL");
