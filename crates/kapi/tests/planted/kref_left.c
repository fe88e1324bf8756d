// reference count: a kref is left with 1 reference
#include <linux/module.h>
#include <linux/kref.h>

static void release(struct kref *kref)
{
}

static struct kref kref;

static int __init begin(void)
{
	kref_init(&kref);
	kref_get(&kref); // in
	kref_put(&kref, release);
	pr_info("%u\n", kref_read(&kref));
	return 0;
}

static void __exit end(void)
{
}

module_init(begin);
module_exit(end);
MODULE_LICENSE("GPL");
