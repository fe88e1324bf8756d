// reference count: refcount_t: underflow; use-after-free
#include <linux/module.h>
#include <linux/kobject.h>
#include <linux/slab.h>

static void release(struct kobject *kobj)
{
}

static const struct kobj_type type = { .release = release };
static struct kobject kobj;

static int __init begin(void)
{
	kobject_init(&kobj, &type);
	kobject_put(&kobj);
	kobject_put(&kobj); // in
	return 0;
}

static void __exit end(void)
{
}

module_init(begin);
module_exit(end);
MODULE_LICENSE("GPL");
