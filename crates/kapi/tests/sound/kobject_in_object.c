// Nothing is wrong here: kobject in object.
#include <linux/module.h>
#include <linux/kobject.h>
#include <linux/slab.h>
#include <linux/sysfs.h>

struct thing {
	struct kobject kobj;
	int value;
};

static void release(struct kobject *kobj)
{
	kfree(container_of(kobj, struct thing, kobj));
}

static const struct kobj_type type = { .release = release, .sysfs_ops = &kobj_sysfs_ops };
static struct thing *thing;

static int __init begin(void)
{
	int result;

	thing = kzalloc(sizeof(*thing), GFP_KERNEL);
	if (!thing)
		return -ENOMEM;
	result = kobject_init_and_add(&thing->kobj, &type, kernel_kobj, "sound%d", 1);
	if (result)
		kobject_put(&thing->kobj);
	return result;
}

static void __exit end(void)
{
	kobject_put(&thing->kobj);
}

module_init(begin);
module_exit(end);
MODULE_LICENSE("GPL");
