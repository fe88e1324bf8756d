/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Device classes: udev's business, of which there is none here; the calls succeed. */
#ifndef _LINUX_DEVICE_H
#define _LINUX_DEVICE_H

#include <linux/err.h>
#include <linux/fs.h>
#include <linux/kconfig.h>
#include <linux/printk.h>
#include <linux/slab.h>

struct class {
	const char *name;
};
struct device {
	dev_t devt;
	void *driver_data;
};

extern struct class *kapi_class_create(const char *name);
extern void class_destroy(struct class *class);
extern struct device *device_create(struct class *class, struct device *parent, dev_t dev,
				    void *data, const char *fmt, ...);
extern void device_destroy(struct class *class, dev_t dev);
/* class_create(owner, name); without owner since 6.4. */
#define class_create(...) KAPI_BY_COUNT(__kapi_class_create_, __VA_ARGS__)
#define __kapi_class_create_1(name) kapi_class_create(name)
#define __kapi_class_create_2(owner, name) kapi_class_create(name)
#define dev_err(dev, fmt, ...) printk(KERN_ERR fmt, ##__VA_ARGS__)
#define dev_warn(dev, fmt, ...) printk(KERN_WARNING fmt, ##__VA_ARGS__)
#define dev_info(dev, fmt, ...) printk(KERN_INFO fmt, ##__VA_ARGS__)
#define dev_dbg(dev, fmt, ...) no_printk(KERN_DEBUG fmt, ##__VA_ARGS__)

#endif
