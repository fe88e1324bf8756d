/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Character devices with nothing but a name. */
#ifndef _LINUX_MISCDEVICE_H
#define _LINUX_MISCDEVICE_H

#include <linux/fs.h>
#include <linux/list.h>

#define MISC_DYNAMIC_MINOR 255

struct miscdevice {
	int minor;
	const char *name;
	const struct file_operations *fops;
	struct list_head list;
	void *parent;
	void *this_device;
	const char *nodename;
	umode_t mode;
};

extern int misc_register(struct miscdevice *misc);
/* Returned int up to 4.2. */
extern int misc_deregister(struct miscdevice *misc);

#endif
