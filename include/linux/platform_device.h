/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Devices that no bus finds: a module makes them, and drivers match them by name. */
#ifndef _LINUX_PLATFORM_DEVICE_H
#define _LINUX_PLATFORM_DEVICE_H

#include <linux/device.h>
#include <linux/ioport.h>
#include <linux/version.h>

#define PLATFORM_DEVID_NONE (-1)
#define PLATFORM_DEVID_AUTO (-2)
#define PLATFORM_NAME_SIZE 24

struct platform_device_id {
	char name[PLATFORM_NAME_SIZE];
	unsigned long driver_data;
};

struct platform_device {
	const char *name;
	int id;
	bool id_auto;
	struct device dev;
	u64 platform_dma_mask;
	u32 num_resources;
	struct resource *resource;
	const struct platform_device_id *id_entry;
	struct list_head kapi_entry;
	u8 kapi_rest[KAPI_PLATFORM_DEVICE_BYTES - 64 - sizeof(struct device)];
};
KAPI_IS_LARGE(struct platform_device, KAPI_PLATFORM_DEVICE_BYTES);
#define to_platform_device(x) container_of((x), struct platform_device, dev)

struct platform_driver {
	int (*probe)(struct platform_device *pdev);
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 11, 0)
	union {
		void (*remove)(struct platform_device *pdev);
		void (*remove_new)(struct platform_device *pdev);
	};
#else
	int (*remove)(struct platform_device *pdev);
	void (*remove_new)(struct platform_device *pdev);
#endif
	void (*shutdown)(struct platform_device *pdev);
	struct device_driver driver;
	const struct platform_device_id *id_table;
	bool prevent_deferred_probe;
	struct list_head kapi_entry;
};

struct platform_device_info {
	struct device *parent;
	const char *name;
	int id;
	const struct resource *res;
	unsigned int num_res;
	const void *data;
	size_t size_data;
	u64 dma_mask;
};

extern const struct bus_type platform_bus_type;
extern struct platform_device *platform_device_alloc(const char *name, int id);
extern int platform_device_add(struct platform_device *pdev);
extern int platform_device_add_data(struct platform_device *pdev, const void *data, size_t size);
extern int platform_device_add_resources(struct platform_device *pdev, const struct resource *res, unsigned int num);
extern void platform_device_del(struct platform_device *pdev);
extern void platform_device_put(struct platform_device *pdev);
extern int platform_device_register(struct platform_device *pdev);
extern void platform_device_unregister(struct platform_device *pdev);
extern struct platform_device *platform_device_register_full(const struct platform_device_info *info);
extern struct resource *platform_get_resource(struct platform_device *pdev, unsigned int type, unsigned int num);
extern int platform_driver_register(struct platform_driver *driver);
extern void platform_driver_unregister(struct platform_driver *driver);

#define to_platform_driver(drv) container_of((drv), struct platform_driver, driver)
#define dev_is_platform(device) ((device)->bus == &platform_bus_type)
#define platform_get_drvdata(pdev) dev_get_drvdata(&(pdev)->dev)
#define platform_set_drvdata(pdev, data) dev_set_drvdata(&(pdev)->dev, data)
#define platform_get_device_id(pdev) ((pdev)->id_entry)
#define platform_device_register_resndata(parent_, name_, id_, res_, num_, data_, size_) \
	platform_device_register_full(&(struct platform_device_info){ \
		.parent = (parent_), .name = (name_), .id = (id_), .res = (res_), .num_res = (num_), \
		.data = (data_), .size_data = (size_) })
#define platform_device_register_simple(name, id, res, num) \
	platform_device_register_resndata(NULL, name, id, res, num, NULL, 0)
#define platform_device_register_data(parent, name, id, data, size) \
	platform_device_register_resndata(parent, name, id, NULL, 0, data, size)
#define module_platform_driver(driver) module_driver(driver, platform_driver_register, platform_driver_unregister)

#endif
