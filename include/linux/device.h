/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Devices: objects under /sys/devices, those of a class under /sys/class, with attributes, a driver and resources that
 * go with them (devres.h). No events are sent, and there is no power to manage.
 *
 * Difference: a device of a class is in /sys/class itself, where Linux has a link to /sys/devices/virtual.
 */
#ifndef _LINUX_DEVICE_H
#define _LINUX_DEVICE_H

#include <linux/device/class.h>
#include <linux/device/driver.h>
#include <linux/err.h>
#include <linux/fs.h>
#include <linux/kconfig.h>
#include <linux/kobject.h>
#include <linux/mutex.h>
#include <linux/printk.h>
#include <linux/ratelimit.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/types.h>

struct device_node;

struct device_type {
	const char *name;
	const struct attribute_group **groups;
	void (*release)(struct device *dev);
};

struct device {
	struct kobject kobj;
	struct device *parent;
	const char *init_name;
	const struct device_type *type;
	const struct bus_type *bus;
	struct device_driver *driver;
	void *platform_data;
	void *driver_data;
	struct mutex mutex;
	u64 *dma_mask;
	u64 coherent_dma_mask;
	u64 bus_dma_limit;
	struct list_head dma_pools;
	struct device_node *of_node;
	dev_t devt;
	u32 id;
	spinlock_t devres_lock;
	struct list_head devres_head;
	const struct class *class;
	const struct attribute_group **groups;
	void (*release)(struct device *dev);
	struct list_head kapi_siblings, kapi_numbered, kapi_on_bus, kapi_of_any_bus;
	/* Completed when it gets a driver. */
	struct completion *kapi_bound;
	u8 kapi_rest[KAPI_DEVICE_BYTES - 296 - sizeof(struct mutex)];
};
KAPI_IS_LARGE(struct device, KAPI_DEVICE_BYTES);
#define kobj_to_dev(kobject) container_of(kobject, struct device, kobj)

struct device_attribute {
	struct attribute attr;
	ssize_t (*show)(struct device *dev, struct device_attribute *attr, char *buf);
	ssize_t (*store)(struct device *dev, struct device_attribute *attr, const char *buf, size_t count);
};
#define DEVICE_ATTR(_name, _mode, _show, _store) \
	struct device_attribute dev_attr_##_name = __ATTR(_name, _mode, _show, _store)
#define DEVICE_ATTR_RW(_name) struct device_attribute dev_attr_##_name = __ATTR_RW(_name)
#define DEVICE_ATTR_RO(_name) struct device_attribute dev_attr_##_name = __ATTR_RO(_name)
#define DEVICE_ATTR_WO(_name) struct device_attribute dev_attr_##_name = __ATTR_WO(_name)

extern void device_initialize(struct device *dev);
extern int device_add(struct device *dev);
extern int device_register(struct device *dev);
extern void device_del(struct device *dev);
extern void device_unregister(struct device *dev);
extern struct device *get_device(struct device *dev);
extern void put_device(struct device *dev);
extern int dev_set_name(struct device *dev, const char *fmt, ...) __printf(2, 3);
extern int device_create_file(struct device *dev, const struct device_attribute *attr);
extern void device_remove_file(struct device *dev, const struct device_attribute *attr);
extern struct device *device_create(const struct class *class, struct device *parent, dev_t dev, void *data,
				    const char *fmt, ...) __printf(5, 6);
extern struct device *device_create_with_groups(const struct class *class, struct device *parent, dev_t dev,
						void *data, const struct attribute_group **groups, const char *fmt,
						...) __printf(6, 7);
extern void device_destroy(const struct class *class, dev_t dev);
extern struct device *root_device_register(const char *name);
extern void root_device_unregister(struct device *dev);
/* Return: the first behind @start that @match accepts, with a reference, or NULL. */
extern struct device *bus_find_device(const struct bus_type *bus, struct device *start, const void *data,
				      int (*match)(struct device *dev, const void *data));
extern const char *dev_driver_string(const struct device *dev);

static inline const char *dev_name(const struct device *dev) { return dev->init_name ?: kobject_name(&dev->kobj); }
static inline void *dev_get_drvdata(const struct device *dev) { return dev->driver_data; }
static inline void dev_set_drvdata(struct device *dev, void *data) { dev->driver_data = data; }
static inline void *dev_get_platdata(const struct device *dev) { return dev->platform_data; }
static inline int dev_to_node(struct device *dev) { return dev ? 0 : NUMA_NO_NODE; }
static inline bool device_is_registered(struct device *dev) { return dev->kobj.state_in_sysfs; }
static inline void device_lock(struct device *dev) { mutex_lock(&dev->mutex); }
static inline void device_unlock(struct device *dev) { mutex_unlock(&dev->mutex); }

/* Driver or bus or class, and name, before the text. */
extern void kapi_dev_printk(const char *level, const struct device *dev, const char *fmt, ...) __printf(3, 4);
#define dev_printk(level, dev, fmt, ...) kapi_dev_printk(level, dev, fmt, ##__VA_ARGS__)
#define dev_emerg(dev, fmt, ...) dev_printk(KERN_EMERG, dev, fmt, ##__VA_ARGS__)
#define dev_alert(dev, fmt, ...) dev_printk(KERN_ALERT, dev, fmt, ##__VA_ARGS__)
#define dev_crit(dev, fmt, ...) dev_printk(KERN_CRIT, dev, fmt, ##__VA_ARGS__)
#define dev_err(dev, fmt, ...) dev_printk(KERN_ERR, dev, fmt, ##__VA_ARGS__)
#define dev_warn(dev, fmt, ...) dev_printk(KERN_WARNING, dev, fmt, ##__VA_ARGS__)
#define dev_notice(dev, fmt, ...) dev_printk(KERN_NOTICE, dev, fmt, ##__VA_ARGS__)
#define dev_info(dev, fmt, ...) dev_printk(KERN_INFO, dev, fmt, ##__VA_ARGS__)
#define dev_dbg(dev, fmt, ...) do { \
	if (0) \
		dev_printk(KERN_DEBUG, dev, fmt, ##__VA_ARGS__); \
} while (0)
#define dev_WARN(dev, fmt, ...) \
	WARN(1, "%s %s: " fmt, dev_driver_string(dev), dev_name(dev), ##__VA_ARGS__)
#define dev_WARN_ONCE(dev, condition, fmt, ...) \
	WARN_ONCE(condition, "%s %s: " fmt, dev_driver_string(dev), dev_name(dev), ##__VA_ARGS__)
/* Says what went wrong, unless it is to be tried later, and returns it. */
extern int dev_err_probe(const struct device *dev, int error, const char *fmt, ...) __printf(3, 4);

#include <linux/device/devres.h>

#endif
