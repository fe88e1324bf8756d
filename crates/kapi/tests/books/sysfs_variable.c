/* A variable of the module as a file of sysfs, by a plain kobject; and objects of a type of their own in a set. */
#include <linux/fs.h>
#include <linux/init.h>
#include <linux/kobject.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/sysfs.h>

static struct kobject *mymodule;
static int myvariable;

static ssize_t myvariable_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	return sprintf(buf, "%d\n", myvariable);
}

static ssize_t myvariable_store(struct kobject *kobj, struct kobj_attribute *attr, const char *buf, size_t count)
{
	sscanf(buf, "%d", &myvariable);
	return count;
}

static struct kobj_attribute myvariable_attribute = __ATTR(myvariable, 0660, myvariable_show, myvariable_store);

struct foo {
	struct kobject kobj;
	int foo, bar;
};
#define to_foo(x) container_of(x, struct foo, kobj)

struct foo_attribute {
	struct attribute attr;
	ssize_t (*show)(struct foo *foo, struct foo_attribute *attr, char *buf);
	ssize_t (*store)(struct foo *foo, struct foo_attribute *attr, const char *buf, size_t count);
};
#define to_foo_attr(x) container_of(x, struct foo_attribute, attr)

static ssize_t foo_attr_show(struct kobject *kobj, struct attribute *attr, char *buf)
{
	struct foo_attribute *attribute = to_foo_attr(attr);

	return attribute->show ? attribute->show(to_foo(kobj), attribute, buf) : -EIO;
}

static ssize_t foo_attr_store(struct kobject *kobj, struct attribute *attr, const char *buf, size_t len)
{
	struct foo_attribute *attribute = to_foo_attr(attr);

	return attribute->store ? attribute->store(to_foo(kobj), attribute, buf, len) : -EIO;
}

static const struct sysfs_ops foo_sysfs_ops = { .show = foo_attr_show, .store = foo_attr_store };

static void foo_release(struct kobject *kobj)
{
	pr_info("%s goes\n", kobject_name(kobj));
	kfree(to_foo(kobj));
}

static int *value_of(struct foo *foo, struct foo_attribute *attr)
{
	return strcmp(attr->attr.name, "foo") ? &foo->bar : &foo->foo;
}

static ssize_t foo_show(struct foo *foo, struct foo_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%d\n", *value_of(foo, attr));
}

static ssize_t foo_store(struct foo *foo, struct foo_attribute *attr, const char *buf, size_t count)
{
	int ret = kstrtoint(buf, 10, value_of(foo, attr));

	return ret < 0 ? ret : count;
}

static struct foo_attribute foo_attribute = __ATTR(foo, 0664, foo_show, foo_store);
static struct foo_attribute bar_attribute = __ATTR(bar, 0664, foo_show, foo_store);
static struct attribute *foo_default_attrs[] = { &foo_attribute.attr, &bar_attribute.attr, NULL };
ATTRIBUTE_GROUPS(foo_default);
static const struct kobj_type foo_ktype = {
	.sysfs_ops = &foo_sysfs_ops, .release = foo_release, .default_groups = foo_default_groups,
};

static struct kset *example_kset;
static struct foo *objects[2];

static struct foo *create_foo(const char *name)
{
	struct foo *foo = kzalloc(sizeof(*foo), GFP_KERNEL);

	if (!foo)
		return NULL;
	foo->kobj.kset = example_kset;
	if (kobject_init_and_add(&foo->kobj, (struct kobj_type *)&foo_ktype, NULL, "%s", name)) {
		kobject_put(&foo->kobj);
		return NULL;
	}
	kobject_uevent(&foo->kobj, KOBJ_ADD);
	return foo;
}

static int __init sysfs_init(void)
{
	int error;

	mymodule = kobject_create_and_add("mymodule", kernel_kobj);
	if (!mymodule)
		return -ENOMEM;
	error = sysfs_create_file(mymodule, &myvariable_attribute.attr);
	if (error) {
		kobject_put(mymodule);
		return error;
	}
	example_kset = kset_create_and_add("kset_example", NULL, kernel_kobj);
	if (!example_kset)
		return -ENOMEM;
	objects[0] = create_foo("first");
	objects[1] = create_foo("second");
	return objects[0] && objects[1] ? 0 : -EINVAL;
}

static void __exit sysfs_exit(void)
{
	kobject_put(&objects[1]->kobj);
	kobject_put(&objects[0]->kobj);
	kset_unregister(example_kset);
	sysfs_remove_file(mymodule, &myvariable_attribute.attr);
	kobject_put(mymodule);
}

module_init(sysfs_init);
module_exit(sysfs_exit);
MODULE_LICENSE("GPL");
