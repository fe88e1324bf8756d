/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Character devices: read with --cat /dev/NAME, NAME as their region was registered. */
#ifndef _LINUX_CDEV_H
#define _LINUX_CDEV_H

#include <linux/fs.h>
#include <linux/list.h>

struct cdev {
	struct module *owner;
	const struct file_operations *ops;
	struct list_head list;
	dev_t dev;
	unsigned int count;
};

extern struct cdev *cdev_alloc(void);
extern void cdev_init(struct cdev *cdev, const struct file_operations *fops);
extern int cdev_add(struct cdev *cdev, dev_t dev, unsigned int count);
extern void cdev_del(struct cdev *cdev);

#endif
