// Nothing is wrong here: sysfs group.
#include <linux/module.h>
#include <linux/kobject.h>
#include <linux/sysfs.h>

static int value = 3;

static ssize_t value_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%d\n", value);
}

static ssize_t value_store(struct kobject *kobj, struct kobj_attribute *attr, const char *buf, size_t count)
{
	int result = kstrtoint(buf, 10, &value);

	return result ? result : (ssize_t)count;
}

static struct kobj_attribute value_attribute = __ATTR_RW(value);
static struct attribute *attributes[] = { &value_attribute.attr, NULL };
static const struct attribute_group group = { .attrs = attributes };
static struct kobject *folder;

static int __init begin(void)
{
	int result;

	folder = kobject_create_and_add("sound", kernel_kobj);
	if (!folder)
		return -ENOMEM;
	result = sysfs_create_group(folder, &group);
	if (result)
		kobject_put(folder);
	return result;
}

static void __exit end(void)
{
	sysfs_remove_group(folder, &group);
	kobject_put(folder);
}

module_init(begin);
module_exit(end);
MODULE_LICENSE("GPL");
