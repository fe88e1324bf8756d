// SPDX-License-Identifier: MIT OR Apache-2.0
// Devices and their classes.
#include "host.h"
#include <linux/device.h>
#include <linux/dma-mapping.h>
#include <linux/kernel.h>
#include <linux/slab.h>

static ssize_t attr_show(struct kobject *kobj, struct attribute *attr, char *buf)
{
	struct device_attribute *of = container_of(attr, struct device_attribute, attr);

	return of->show ? of->show(kobj_to_dev(kobj), of, buf) : -EIO;
}

static ssize_t attr_store(struct kobject *kobj, struct attribute *attr, const char *buf, size_t len)
{
	struct device_attribute *of = container_of(attr, struct device_attribute, attr);

	return of->store ? of->store(kobj_to_dev(kobj), of, buf, len) : -EIO;
}

static const struct sysfs_ops dev_sysfs_ops = { .show = attr_show, .store = attr_store };

/* The last reference is gone. */
static void dev_release(struct kobject *kobj)
{
	struct device *dev = kobj_to_dev(kobj);
	const char *name = dev->kobj.name;

	devres_release_all(dev);
	if (dev->release)
		dev->release(dev);
	else if (dev->type && dev->type->release)
		dev->type->release(dev);
	else if (dev->class && dev->class->dev_release)
		dev->class->dev_release(dev);
	else
		WARN(1, "Device '%s' does not have a release() function, it is broken and must be fixed. "
			"See Documentation/core-api/kobject.rst.\n", name);
}

static const struct kobj_type dev_type = { .release = dev_release, .sysfs_ops = &dev_sysfs_ops };

void device_initialize(struct device *dev)
{
	kobject_init(&dev->kobj, &dev_type);
	mutex_init(&dev->mutex);
	spin_lock_init(&dev->devres_lock);
	INIT_LIST_HEAD(&dev->devres_head);
	INIT_LIST_HEAD(&dev->dma_pools);
	INIT_LIST_HEAD(&dev->kapi_siblings);
	INIT_LIST_HEAD(&dev->kapi_numbered);
	INIT_LIST_HEAD(&dev->kapi_on_bus);
	INIT_LIST_HEAD(&dev->kapi_of_any_bus);
}

int dev_set_name(struct device *dev, const char *fmt, ...)
{
	char name[64];

	WITH_ARGS(fmt, vscnprintf(name, sizeof(name), fmt, args));
	return kobject_set_name(&dev->kobj, "%s", name);
}

struct device *get_device(struct device *dev) { return dev ? kobj_to_dev(kobject_get(&dev->kobj)) : NULL; }

void put_device(struct device *dev)
{
	if (dev)
		kobject_put(&dev->kobj);
}

int device_create_file(struct device *dev, const struct device_attribute *attr)
{
	return dev ? sysfs_create_file(&dev->kobj, &attr->attr) : 0;
}

void device_remove_file(struct device *dev, const struct device_attribute *attr)
{
	if (dev)
		sysfs_remove_file(&dev->kobj, &attr->attr);
}

static ssize_t dev_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%u:%u\n", MAJOR(dev->devt), MINOR(dev->devt));
}

static DEVICE_ATTR_RO(dev);

/* Devices with a number have a name in /dev; a `!` in theirs is a `/` there. */
static LIST_HEAD(numbered);

/* The devices of all buses. */
static LIST_HEAD(on_buses);

static bool is_named(const struct device *dev, const char *name)
{
	const char *own = dev_name(dev);

	for (; *own && (*own == *name || (*own == '!' && *name == '/')); own++, name++)
		;
	return *own == *name;
}

bool kapi_device_number(const char *name, dev_t *number)
{
	struct device *dev;

	list_for_each_entry(dev, &numbered, kapi_numbered)
		if (is_named(dev, name)) {
			*number = dev->devt;
			return true;
		}
	return false;
}

void kapi_list_numbered(void)
{
	struct device *dev;
	char path[80];

	list_for_each_entry(dev, &numbered, kapi_numbered)
		if (MAJOR(dev->devt) != 10)
			kapi_output(path, (size_t)scnprintf(path, sizeof(path), "/dev/%s\n", dev_name(dev)));
}

static int add_files(struct device *dev)
{
	int error = dev->class ? sysfs_create_groups(&dev->kobj, dev->class->dev_groups) : 0;

	if (!error && dev->type)
		error = sysfs_create_groups(&dev->kobj, dev->type->groups);
	if (!error)
		error = sysfs_create_groups(&dev->kobj, dev->groups);
	if (!error && MAJOR(dev->devt))
		error = device_create_file(dev, &dev_attr_dev);
	return error;
}

int device_add(struct device *dev)
{
	struct kobject *parent = kapi_devices_kobj();
	int error;

	if (dev->init_name) {
		error = dev_set_name(dev, "%s", dev->init_name);
		if (error)
			return error;
		dev->init_name = NULL;
	}
	if (!dev->kobj.name)
		return -EINVAL;
	if (dev->class)
		parent = dev->class->kapi_kobj;
	else if (dev->parent)
		parent = &dev->parent->kobj;
	get_device(dev->parent);
	error = kobject_add(&dev->kobj, parent, "%s", dev->kobj.name);
	if (!error)
		error = add_files(dev);
	if (error) {
		kobject_del(&dev->kobj);
		put_device(dev->parent);
		return error;
	}
	if (dev->class)
		list_add_tail(&dev->kapi_siblings, &((struct class *)dev->class)->kapi_devices);
	if (MAJOR(dev->devt))
		list_add_tail(&dev->kapi_numbered, &numbered);
	if (dev->bus)
		list_add_tail(&dev->kapi_of_any_bus, &on_buses);
	kapi_gone(&dev->kobj);
	kapi_stands(&dev->kobj, "the device", dev_name(dev));
	kapi_bus_add(dev);
	return 0;
}

struct device *bus_find_device(const struct bus_type *bus, struct device *start, const void *data,
			       int (*match)(struct device *dev, const void *data))
{
	struct device *dev = start ?: list_entry(&on_buses, struct device, kapi_of_any_bus);

	list_for_each_entry_continue(dev, &on_buses, kapi_of_any_bus)
		if (dev->bus == bus && match(dev, data))
			return get_device(dev);
	return NULL;
}

int device_register(struct device *dev)
{
	device_initialize(dev);
	return device_add(dev);
}

void device_del(struct device *dev)
{
	kapi_bus_del(dev);
	/* Since 6.6, so that what goes with a device may have a reference to it. */
	if (LINUX_VERSION_CODE >= KERNEL_VERSION(6, 6, 0))
		devres_release_all(dev);
	list_del_init(&dev->kapi_siblings);
	list_del_init(&dev->kapi_numbered);
	list_del_init(&dev->kapi_of_any_bus);
	kobject_del(&dev->kobj);
	put_device(dev->parent);
}

void device_unregister(struct device *dev)
{
	device_del(dev);
	put_device(dev);
}

static void free_dev(struct device *dev) { kfree(dev); }

static struct device *create(const struct class *class, struct device *parent, dev_t devt, void *data,
			     const struct attribute_group **groups, const char *fmt, va_list args, unsigned long site)
{
	struct device *dev;
	char name[64];
	int error;

	if (IS_ERR_OR_NULL(class))
		return ERR_PTR(-ENODEV);
	dev = kapi_kmalloc_for(sizeof(*dev), GFP_KERNEL | __GFP_ZERO, site);
	if (!dev)
		return ERR_PTR(-ENOMEM);
	device_initialize(dev);
	dev->devt = devt;
	dev->class = class;
	dev->parent = parent;
	dev->groups = groups;
	dev->release = free_dev;
	dev->driver_data = data;
	vscnprintf(name, sizeof(name), fmt, args);
	error = dev_set_name(dev, "%s", name) ?: device_add(dev);
	if (!error)
		return dev;
	put_device(dev);
	return ERR_PTR(error);
}

/* For misc_register(): a device of a name, made for the caller at @site. */
static struct device *create_named(unsigned long site, const struct class *class, struct device *parent, dev_t devt,
				   void *data, const struct attribute_group **groups, const char *fmt, ...)
{
	return WITH_ARGS(fmt, create(class, parent, devt, data, groups, fmt, args, site));
}

struct device *kapi_device_for(const struct class *class, struct device *parent, dev_t devt, void *data,
			       const struct attribute_group **groups, const char *name, unsigned long site)
{
	return create_named(site, class, parent, devt, data, groups, "%s", name);
}

struct device *device_create(const struct class *class, struct device *parent, dev_t devt, void *data,
			     const char *fmt, ...)
{
	return WITH_ARGS(fmt, create(class, parent, devt, data, NULL, fmt, args, _RET_IP_));
}

struct device *device_create_with_groups(const struct class *class, struct device *parent, dev_t devt, void *data,
					 const struct attribute_group **groups, const char *fmt, ...)
{
	return WITH_ARGS(fmt, create(class, parent, devt, data, groups, fmt, args, _RET_IP_));
}

void device_destroy(const struct class *class, dev_t devt)
{
	struct device *dev;

	list_for_each_entry(dev, &class->kapi_devices, kapi_siblings)
		if (dev->devt == devt) {
			device_unregister(dev);
			return;
		}
}

struct device *root_device_register(const char *name)
{
	struct device *dev = kapi_kmalloc_for(sizeof(*dev), GFP_KERNEL | __GFP_ZERO, _RET_IP_);
	int error;

	if (!dev)
		return ERR_PTR(-ENOMEM);
	device_initialize(dev);
	dev->release = free_dev;
	error = dev_set_name(dev, "%s", name) ?: device_add(dev);
	if (!error)
		return dev;
	put_device(dev);
	return ERR_PTR(error);
}

void root_device_unregister(struct device *dev) { device_unregister(dev); }

/* Before 2.6.34 a file of a class was not told which it is. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(2, 6, 34)
#define CLASS_ARGS(attr) class
#else
#define CLASS_ARGS(attr) class, attr
#endif

static ssize_t class_show(struct kobject *kobj, struct attribute *attr, char *buf)
{
	struct class_attribute *of = container_of(attr, struct class_attribute, attr);
	struct class *class = kapi_folder_owner(kobj);

	return of->show ? of->show(CLASS_ARGS(of), buf) : -EIO;
}

static ssize_t class_store(struct kobject *kobj, struct attribute *attr, const char *buf, size_t len)
{
	struct class_attribute *of = container_of(attr, struct class_attribute, attr);
	struct class *class = kapi_folder_owner(kobj);

	return of->store ? of->store(CLASS_ARGS(of), buf, len) : -EIO;
}

static const struct sysfs_ops class_sysfs_ops = { .show = class_show, .store = class_store };
static const struct kobj_type class_type = { .sysfs_ops = &class_sysfs_ops };

int class_create_file(const struct class *class, const struct class_attribute *attr)
{
	return class ? sysfs_create_file(class->kapi_kobj, &attr->attr) : -EINVAL;
}

void class_remove_file(const struct class *class, const struct class_attribute *attr)
{
	if (class)
		sysfs_remove_file(class->kapi_kobj, &attr->attr);
}

int kapi_class_register(struct class *class)
{
	int error;

	INIT_LIST_HEAD(&class->kapi_devices);
	class->kapi_kobj = kapi_folder_kobj(kapi_class_kobj(), class->name);
	if (!class->kapi_kobj)
		return -ENOMEM;
	kapi_folder_own(class->kapi_kobj, &class_type, class);
	kapi_stands(class, "the class", class->name);
	error = sysfs_create_groups(class->kapi_kobj, class->class_groups);
	if (error)
		class_unregister(class);
	return error;
}

void class_unregister(const struct class *class)
{
	kapi_gone(class);
	sysfs_remove_groups(class->kapi_kobj, class->class_groups);
	kapi_folder_remove(class->kapi_kobj);
}

struct class *kapi_class_create(const char *name)
{
	struct class *class = kapi_kmalloc_for(sizeof(*class), GFP_KERNEL | __GFP_ZERO, _RET_IP_);

	if (!class)
		return ERR_PTR(-ENOMEM);
	class->name = name;
	if (!kapi_class_register(class))
		return class;
	kfree(class);
	return ERR_PTR(-ENOMEM);
}

void class_destroy(const struct class *class)
{
	if (IS_ERR_OR_NULL(class))
		return;
	class_unregister(class);
	kapi_kfree_for(class, _RET_IP_);
}

const char *dev_driver_string(const struct device *dev)
{
	if (dev->driver)
		return dev->driver->name;
	return dev->bus ? dev->bus->name : dev->class ? dev->class->name : "";
}

static int say(const char *level, const struct device *dev, const char *fmt, va_list args)
{
	char text[512];

	vscnprintf(text, sizeof(text), fmt, args);
	if (!dev)
		return printk("%s(NULL device *): %s", level, text);
	return printk("%s%s %s: %s", level, dev_driver_string(dev), dev_name(dev), text);
}

void kapi_dev_printk(const char *level, const struct device *dev, const char *fmt, ...)
{
	WITH_ARGS(fmt, say(level, dev, fmt, args));
}

int dev_err_probe(const struct device *dev, int error, const char *fmt, ...)
{
	char text[512];

	WITH_ARGS(fmt, vscnprintf(text, sizeof(text), fmt, args));
	if (error != -EPROBE_DEFER && error != -ENOMEM)
		dev_err(dev, "error %pe: %s", ERR_PTR(error), text);
	return error;
}
