// SPDX-License-Identifier: MIT OR Apache-2.0
// Character devices: numbers with names, operations for numbers, and the names in /dev that lead to them.
//
// How it works: a name in /dev is that of a misc device, of a device with a number (device_create()), of a node
// that a step of --do made, or of a region: alone for its first number, or with the place of the number in it.
#include "host.h"
#include <linux/cdev.h>
#include <linux/device.h>
#include <linux/kernel.h>
#include <linux/miscdevice.h>
#include <linux/slab.h>

#define DEVICES_MAX 64
#define DYNAMIC_MAJOR_FIRST 240
#define MINORS 256

static struct device_region {
	dev_t first;
	unsigned int count;
	char name[64];
} regions[DEVICES_MAX], nodes[DEVICES_MAX];
static LIST_HEAD(cdevs);
static LIST_HEAD(miscs);

static struct device_region *free_region(struct device_region *table)
{
	unsigned int i;

	for (i = 0; i < DEVICES_MAX; i++)
		if (!table[i].count)
			return table + i;
	return NULL;
}

static int enter_region(struct device_region *table, dev_t first, unsigned int count, const char *name)
{
	struct device_region *r = free_region(table);

	if (!r)
		return -ENOMEM;
	*r = (struct device_region){ .first = first, .count = count };
	strscpy(r->name, name, sizeof(r->name));
	if (table == regions)
		kapi_stands(r, "the region of device numbers", name);
	return 0;
}

int register_chrdev_region(dev_t first, unsigned int count, const char *name)
{
	unsigned int i;

	if (!count || MAJOR(first) >= 512)
		return -EINVAL;
	for (i = 0; i < DEVICES_MAX; i++)
		if (regions[i].count && first < regions[i].first + regions[i].count && regions[i].first < first + count)
			return -EBUSY;
	return enter_region(regions, first, count, name);
}

int alloc_chrdev_region(dev_t *dev, unsigned int first, unsigned int count, const char *name)
{
	static unsigned int major = DYNAMIC_MAJOR_FIRST;
	int error = register_chrdev_region(MKDEV(major, first), count, name);

	if (!error)
		*dev = MKDEV(major++, first);
	return error;
}

void unregister_chrdev_region(dev_t first, unsigned int count)
{
	unsigned int i;

	for (i = 0; i < DEVICES_MAX; i++)
		if (regions[i].count && regions[i].first == first) {
			regions[i].count = 0;
			kapi_gone(&regions[i]);
		}
}

/* Of one that cdev_alloc() made, which is freed with its last reference. */
static const struct kobj_type cdev_allocated_type;

static void cdev_release(struct kobject *kobj)
{
	struct cdev *cdev = container_of(kobj, struct cdev, kobj);
	struct kobject *parent = kobj->parent;

	if (kobj->ktype == &cdev_allocated_type)
		kapi_kfree_for(cdev, kapi_module_site());
	kobject_put(parent);
}

static const struct kobj_type cdev_type = { .release = cdev_release };
static const struct kobj_type cdev_allocated_type = { .release = cdev_release };

void cdev_init(struct cdev *cdev, const struct file_operations *fops)
{
	memset(cdev, 0, sizeof(*cdev));
	INIT_LIST_HEAD(&cdev->list);
	kobject_init(&cdev->kobj, &cdev_type);
	cdev->ops = fops;
}

struct cdev *cdev_alloc(void)
{
	struct cdev *cdev = kapi_kmalloc_for(sizeof(*cdev), GFP_KERNEL | __GFP_ZERO, _RET_IP_);

	if (cdev) {
		cdev_init(cdev, NULL);
		cdev->kobj.ktype = &cdev_allocated_type;
	}
	return cdev;
}

static const char *number_text(dev_t dev)
{
	static char text[24];

	scnprintf(text, sizeof(text), "%u:%u", MAJOR(dev), MINOR(dev));
	return text;
}

int cdev_add(struct cdev *cdev, dev_t dev, unsigned int count)
{
	might_sleep();
	if (WARN_ON(dev == (dev_t)-1))
		return -EBUSY;
	if (WARN(!cdev->list.next, "cdev_add() of a cdev without cdev_init()\n"))
		return -EINVAL;
	cdev->dev = dev;
	cdev->count = count;
	list_add_tail(&cdev->list, &cdevs);
	kapi_stands(cdev, "the character device", number_text(dev));
	kobject_get(cdev->kobj.parent);
	return 0;
}

void cdev_put(struct cdev *cdev) { kobject_put(&cdev->kobj); }

void cdev_del(struct cdev *cdev)
{
	if (WARN(!cdev->list.next, "cdev_del() of a cdev without cdev_init()\n"))
		return;
	kapi_gone(cdev);
	list_del_init(&cdev->list);
	cdev_put(cdev);
}

int cdev_device_add(struct cdev *cdev, struct device *dev)
{
	int error = 0;

	if (dev->devt) {
		cdev_set_parent(cdev, &dev->kobj);
		error = cdev_add(cdev, dev->devt, 1);
	}
	if (!error)
		error = device_add(dev);
	if (error && dev->devt)
		cdev_del(cdev);
	return error;
}

void cdev_device_del(struct cdev *cdev, struct device *dev)
{
	device_del(dev);
	if (dev->devt)
		cdev_del(cdev);
}

int __register_chrdev(unsigned int major, unsigned int first, unsigned int count, const char *name,
		      const struct file_operations *fops)
{
	dev_t dev = MKDEV(major, first);
	struct cdev *cdev;
	int error = major ? register_chrdev_region(dev, count, name) : alloc_chrdev_region(&dev, first, count, name);

	if (error)
		return error;
	cdev = kapi_alloc(sizeof(*cdev));
	if (!cdev) {
		unregister_chrdev_region(dev, count);
		return -ENOMEM;
	}
	cdev_init(cdev, fops);
	cdev->owner = fops->owner;
	cdev_add(cdev, dev, count);
	return major ? 0 : (int)MAJOR(dev);
}

void __unregister_chrdev(unsigned int major, unsigned int first, unsigned int count, const char *name)
{
	struct cdev *cdev, *next;

	list_for_each_entry_safe(cdev, next, &cdevs, list)
		if (cdev->dev == MKDEV(major, first)) {
			cdev_del(cdev);
			kapi_free(cdev, sizeof(*cdev));
		}
	unregister_chrdev_region(MKDEV(major, first), count);
}

int register_chrdev(unsigned int major, const char *name, const struct file_operations *fops)
{
	return __register_chrdev(major, 0, MINORS, name, fops);
}

void unregister_chrdev(unsigned int major, const char *name) { __unregister_chrdev(major, 0, MINORS, name); }

void kapi_misc_add(struct miscdevice *misc)
{
	list_add_tail(&misc->list, &miscs);
	kapi_stands(misc, "the misc device", misc->name);
}

/* The one of a number that a module chose. */
bool kapi_misc_has(int minor)
{
	struct miscdevice *misc;

	list_for_each_entry(misc, &miscs, list)
		if (misc->minor == minor && minor != MISC_DYNAMIC_MINOR)
			return true;
	return false;
}

/* Those in memory that is freed are devices no more. */
void kapi_forget_devices(unsigned long start, unsigned long bytes)
{
	struct miscdevice *misc, *next_misc;
	struct cdev *cdev, *next;

	list_for_each_entry_safe(cdev, next, &cdevs, list)
		if ((unsigned long)cdev - start < bytes)
			list_del_init(&cdev->list);
	list_for_each_entry_safe(misc, next_misc, &miscs, list)
		if ((unsigned long)misc - start < bytes)
			list_del_init(&misc->list);
}

/* The number at the end of a name, if all before it is the region's name. */
static bool in_region(const struct device_region *r, const char *name, dev_t *dev)
{
	size_t len = strlen(r->name);
	unsigned int place = 0;

	if (!r->count || strncmp(r->name, name, len))
		return false;
	if (name[len] && kstrtouint(name + len, 10, &place))
		return false;
	*dev = r->first + place;
	return place < r->count;
}

/* The region of a name, and the place of a number in it; or a major number, and a minor one. */
int kapi_mknod(const char *path, const char *major, unsigned int minor)
{
	dev_t dev = 0;
	unsigned int i, number;

	if (!kstrtouint(major, 10, &number))
		return enter_region(nodes, MKDEV(number, minor), 1, path);
	for (i = 0; i < DEVICES_MAX && !dev; i++)
		if (regions[i].count && !strcmp(regions[i].name, major))
			dev = regions[i].first + minor;
	return dev ? enter_region(nodes, dev, 1, path) : -ENXIO;
}

static bool number_of(const char *name, dev_t *dev)
{
	unsigned int i;

	for (i = 0; i < DEVICES_MAX; i++)
		if (nodes[i].count && !strcmp(nodes[i].name, name)) {
			*dev = nodes[i].first;
			return true;
		}
	if (kapi_device_number(name, dev))
		return true;
	for (i = 0; i < DEVICES_MAX; i++)
		if (in_region(&regions[i], name, dev))
			return true;
	return false;
}

long kapi_device_find(const char *name, struct file *file)
{
	struct inode *inode = file->f_inode;
	struct miscdevice *misc;
	struct cdev *cdev;

	list_for_each_entry(misc, &miscs, list)
		if (!strcmp(misc->nodename ?: misc->name, name) || !strcmp(misc->name, name)) {
			inode->i_rdev = MKDEV(10, (unsigned int)misc->minor);
			file->f_op = misc->fops;
			file->private_data = misc;
			return 0;
		}
	if (!number_of(name, &inode->i_rdev))
		return -ENOENT;
	list_for_each_entry(cdev, &cdevs, list)
		if (inode->i_rdev >= cdev->dev && inode->i_rdev - cdev->dev < cdev->count) {
			inode->i_cdev = cdev;
			file->f_op = cdev->ops;
			return 0;
		}
	return -ENXIO;
}

static void list_region(const struct device_region *r)
{
	char path[80];
	struct cdev *cdev;
	dev_t dev;

	for (dev = r->first; dev < r->first + r->count; dev++)
		list_for_each_entry(cdev, &cdevs, list)
			if (dev >= cdev->dev && dev - cdev->dev < cdev->count && cdev->count < MINORS)
				kapi_output(path, (size_t)scnprintf(path, sizeof(path), "/dev/%s%u\n", r->name,
								    dev - r->first));
			else if (dev == cdev->dev && dev == r->first)
				kapi_output(path, (size_t)scnprintf(path, sizeof(path), "/dev/%s\n", r->name));
}

void kapi_list_devices(void)
{
	struct miscdevice *misc;
	char path[80];
	unsigned int i;

	list_for_each_entry(misc, &miscs, list)
		kapi_output(path, (size_t)scnprintf(path, sizeof(path), "/dev/%s\n", misc->nodename ?: misc->name));
	kapi_list_numbered();
	for (i = 0; i < DEVICES_MAX; i++)
		if (regions[i].count)
			list_region(&regions[i]);
}
