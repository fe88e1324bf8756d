/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Character devices: read with --cat /dev/NAME, NAME as their region was registered. */
#ifndef _LINUX_CDEV_H
#define _LINUX_CDEV_H

#include <linux/fs.h>
#include <linux/kobject.h>
#include <linux/list.h>
#include <linux/version.h>
#include <kapi/bytes.h>

struct device;

struct cdev {
	struct kobject kobj;
	struct module *owner;
	const struct file_operations *ops;
	struct list_head list;
	dev_t dev;
	unsigned int count;
};
KAPI_IS_LARGE(struct cdev, KAPI_CDEV_BYTES);

extern struct cdev *cdev_alloc(void);
extern void cdev_init(struct cdev *cdev, const struct file_operations *fops);
extern int cdev_add(struct cdev *cdev, dev_t dev, unsigned int count);
extern void cdev_del(struct cdev *cdev);
extern void cdev_put(struct cdev *cdev);
/* With a device of the same number, and its parent the device. */
extern int cdev_device_add(struct cdev *cdev, struct device *dev);
extern void cdev_device_del(struct cdev *cdev, struct device *dev);
static inline void cdev_set_parent(struct cdev *cdev, struct kobject *parent) { cdev->kobj.parent = parent; }

#endif
