/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Character devices with nothing but a name. */
#ifndef _LINUX_MISCDEVICE_H
#define _LINUX_MISCDEVICE_H

#include <linux/fs.h>
#include <linux/device.h>
#include <linux/list.h>

#define MISC_DYNAMIC_MINOR 255

struct device;
struct attribute_group;

struct miscdevice {
	int minor;
	const char *name;
	const struct file_operations *fops;
	struct list_head list;
	struct device *parent;
	struct device *this_device;
	const struct attribute_group **groups;
	const char *nodename;
	umode_t mode;
};

extern int misc_register(struct miscdevice *misc);
/* Returned int up to 4.2. */
extern int misc_deregister(struct miscdevice *misc);
#define module_misc_device(misc) module_driver(misc, misc_register, misc_deregister)

#endif
