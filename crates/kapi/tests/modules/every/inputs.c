/* An input device without a user, and files of a class. */
#include <linux/input.h>
#include <linux/module.h>
#include <linux/version.h>
#include "check.h"

#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 4, 0)
#define SHOWS(name) static ssize_t name##_show(const struct class *class, const struct class_attribute *attr, char *buf)
#define STORES(name) \
	static ssize_t name##_store(const struct class *class, const struct class_attribute *attr, const char *buf, size_t count)
#else
#define SHOWS(name) static ssize_t name##_show(struct class *class, struct class_attribute *attr, char *buf)
#define STORES(name) \
	static ssize_t name##_store(struct class *class, struct class_attribute *attr, const char *buf, size_t count)
#endif
SHOWS(first) { return sysfs_emit(buf, "%s\n", class->name); }
SHOWS(second) { return sysfs_emit(buf, "%s\n", attr->attr.name); }
STORES(second) { return (ssize_t)count; }
STORES(third) { return (ssize_t)count; }
static CLASS_ATTR_RO(first);
static CLASS_ATTR_RW(second);
static CLASS_ATTR_WO(third);
static struct attribute *attrs[] = { &class_attr_first.attr, &class_attr_second.attr, NULL };
static const struct attribute_group group = { .attrs = attrs };
static const struct attribute_group *groups[] = { &group, NULL };
static struct class class = { .name = "every", .class_groups = groups };

static void device(void)
{
	struct input_dev *dev = input_allocate_device();

	if (!dev)
		return;
	IS(to_input_dev(&dev->dev), dev);
	input_set_capability(dev, EV_REL, REL_X);
	input_set_capability(dev, EV_SW, SW_LID);
	input_abs_set_max(dev, ABS_X, 7);
	IS(input_abs_get_max(dev, ABS_X), 7);
	__set_bit(EV_ABS, dev->evbit);
	IS(input_register_device(dev), 0);
	input_report_rel(dev, REL_X, 3);
	input_report_switch(dev, SW_LID, 5);
	input_mt_sync(dev);
	IS(test_bit(SW_LID, dev->sw), 1);
	IS(input_get_device(dev), dev);
	input_unregister_device(dev);
	input_put_device(dev);
	dev = input_allocate_device();
	if (!dev)
		return;
	__set_bit(EV_ABS, dev->evbit);
	IS(input_register_device(dev), -EINVAL);
	input_free_device(dev);
}

static int __init inputs_init(void)
{
	device();
	IS(class_register(&class), 0);
	IS(class_create_file(&class, &class_attr_third), 0);
	class_remove_file(&class, &class_attr_third);
	class_unregister(&class);
	return result();
}
module_init(inputs_init);
MODULE_LICENSE("GPL");
