// left behind: the file of /sys `value` is still there
#include <linux/module.h>
#include <linux/kobject.h>
#include <linux/sysfs.h>

static ssize_t value_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "7\n");
}

static struct kobj_attribute value = __ATTR_RO(value);

static int __init begin(void)
{
	return sysfs_create_file(kernel_kobj, &value.attr); // in
}

static void __exit end(void)
{
}

module_init(begin);
module_exit(end);
MODULE_LICENSE("GPL");
