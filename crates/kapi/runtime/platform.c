// SPDX-License-Identifier: MIT OR Apache-2.0
// Platform devices and drivers, and how they find each other.
#include "host.h"
#include <linux/completion.h>
#include <linux/dma-mapping.h>
#include <linux/kernel.h>
#include <linux/mutex.h>
#include <linux/platform_device.h>
#include <linux/proc_fs.h>
#include <linux/slab.h>

const struct bus_type platform_bus_type = { .name = "platform" };

static LIST_HEAD(devices);
static LIST_HEAD(drivers);
/* Of both lists. Probes run without: they may make devices. */
static DEFINE_MUTEX(lists);

static bool matches(struct platform_device *pdev, struct platform_driver *driver)
{
	const struct platform_device_id *id = driver->id_table;

	if (!id)
		return !strcmp(pdev->name, driver->driver.name);
	for (; id->name[0]; id++)
		if (!strcmp(pdev->name, id->name)) {
			pdev->id_entry = id;
			return true;
		}
	return false;
}

static void say_failed(struct device *dev, const char *driver, int error)
{
	if (error == -ENODEV || error == -ENXIO || error == -EPROBE_DEFER)
		return;
	if (LINUX_VERSION_CODE >= KERNEL_VERSION(6, 9, 0))
		dev_err(dev, "probe with driver %s failed with error %d\n", driver, error);
	else
		pr_warn("%s: probe of %s failed with error %d\n", driver, dev_name(dev), error);
}

static void probe(struct platform_device *pdev, struct platform_driver *driver)
{
	struct device *dev = &pdev->dev;
	int error = 0;

	device_lock(dev);
	if (!dev->driver) {
		if (!list_empty(&dev->devres_head)) {
			dev_crit(dev, "Resources present before probing\n");
			error = -EBUSY;
		} else {
			dev->driver = &driver->driver;
			error = driver->probe ? driver->probe(pdev) : 0;
			if (!error)
				error = sysfs_create_groups(&dev->kobj, driver->driver.dev_groups);
		}
		if (error) {
			say_failed(dev, driver->driver.name, error);
			if (dev->driver)
				devres_release_all(dev);
			dev->driver = NULL;
			dev->driver_data = NULL;
		}
		if (dev->driver && dev->kapi_bound)
			complete(dev->kapi_bound);
	}
	device_unlock(dev);
}

/* Takes a driver off a device. */
static void leave(struct platform_device *pdev)
{
	struct device *dev = &pdev->dev;
	struct platform_driver *driver;

	device_lock(dev);
	if (dev->driver) {
		driver = container_of(dev->driver, struct platform_driver, driver);
		sysfs_remove_groups(&dev->kobj, driver->driver.dev_groups);
		if (driver->remove_new)
			driver->remove_new(pdev);
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 11, 0)
		else if (driver->remove && driver->remove(pdev))
			dev_warn(dev, "remove callback returned a non-zero value. This will be ignored.\n");
#endif
		devres_release_all(dev);
		dev->driver = NULL;
		dev->driver_data = NULL;
	}
	device_unlock(dev);
}

/* The next of a list that goes with @pdev or @driver, held; both lists only change under the lock. */
static struct platform_driver *driver_for(struct platform_device *pdev)
{
	struct platform_driver *driver, *found = NULL;

	mutex_lock(&lists);
	list_for_each_entry(driver, &drivers, kapi_entry)
		if (matches(pdev, driver)) {
			found = driver;
			break;
		}
	mutex_unlock(&lists);
	return found;
}

/* Calls for each device that has, or could have, a driver. */
static void for_each_device(struct platform_driver *driver, bool bound)
{
	struct platform_device *pdev, *next;

	mutex_lock(&lists);
	list_for_each_entry_safe(pdev, next, &devices, kapi_entry) {
		if (bound ? pdev->dev.driver != &driver->driver : !matches(pdev, driver))
			continue;
		get_device(&pdev->dev);
		mutex_unlock(&lists);
		if (bound)
			leave(pdev);
		else
			probe(pdev, driver);
		mutex_lock(&lists);
		next = list_next_entry(pdev, kapi_entry);
		put_device(&pdev->dev);
	}
	mutex_unlock(&lists);
}

int platform_driver_register(struct platform_driver *driver)
{
	driver->driver.bus = &platform_bus_type;
	mutex_lock(&lists);
	list_add_tail(&driver->kapi_entry, &drivers);
	mutex_unlock(&lists);
	kapi_stands(driver, "the platform driver", driver->driver.name);
	for_each_device(driver, false);
	return 0;
}

void platform_driver_unregister(struct platform_driver *driver)
{
	mutex_lock(&lists);
	list_del(&driver->kapi_entry);
	kapi_gone(driver);
	mutex_unlock(&lists);
	for_each_device(driver, true);
}

/* What platform_device_alloc() makes: the name behind it. */
struct made {
	struct platform_device pdev;
	char name[];
};

static void free_made(struct device *dev)
{
	struct platform_device *pdev = to_platform_device(dev);

	kfree(dev->platform_data);
	kfree(pdev->resource);
	kfree(container_of(pdev, struct made, pdev));
}

static void initialize(struct platform_device *pdev)
{
	pdev->dev.bus = &platform_bus_type;
	INIT_LIST_HEAD(&pdev->kapi_entry);
	device_initialize(&pdev->dev);
	/* The masks of a device that says nothing else. */
	if (!pdev->dev.coherent_dma_mask)
		pdev->dev.coherent_dma_mask = DMA_BIT_MASK(32);
	if (!pdev->dev.dma_mask) {
		pdev->platform_dma_mask = DMA_BIT_MASK(32);
		pdev->dev.dma_mask = &pdev->platform_dma_mask;
	}
}

static struct platform_device *make(const char *name, int id, unsigned long site)
{
	struct made *made = kapi_kmalloc_for(sizeof(*made) + strlen(name) + 1, GFP_KERNEL | __GFP_ZERO, site);

	if (!made)
		return NULL;
	strcpy(made->name, name);
	made->pdev.name = made->name;
	made->pdev.id = id;
	initialize(&made->pdev);
	made->pdev.dev.release = free_made;
	return &made->pdev;
}

struct platform_device *platform_device_alloc(const char *name, int id) { return make(name, id, _RET_IP_); }

int platform_device_add_data(struct platform_device *pdev, const void *data, size_t size)
{
	void *copy = data ? kmemdup(data, size, GFP_KERNEL) : NULL;

	if (data && !copy)
		return -ENOMEM;
	kfree(pdev->dev.platform_data);
	pdev->dev.platform_data = copy;
	return 0;
}

int platform_device_add_resources(struct platform_device *pdev, const struct resource *res, unsigned int num)
{
	struct resource *copy = res ? kmemdup(res, sizeof(*res) * num, GFP_KERNEL) : NULL;

	if (res && !copy)
		return -ENOMEM;
	kfree(pdev->resource);
	pdev->resource = copy;
	pdev->num_resources = num;
	return 0;
}

static int set_name(struct platform_device *pdev)
{
	static atomic_t next = ATOMIC_INIT(0);

	if (pdev->id == PLATFORM_DEVID_NONE)
		return dev_set_name(&pdev->dev, "%s", pdev->name);
	if (pdev->id == PLATFORM_DEVID_AUTO) {
		pdev->id = atomic_inc_return(&next) - 1;
		pdev->id_auto = true;
		return dev_set_name(&pdev->dev, "%s.%d.auto", pdev->name, pdev->id);
	}
	return dev_set_name(&pdev->dev, "%s.%d", pdev->name, pdev->id);
}

int platform_device_add(struct platform_device *pdev)
{
	static struct device bus;
	struct platform_driver *driver;
	int error;

	/* A folder that is nobody's to free. */
	if (!bus.kobj.sd)
		bus.kobj.sd = kapi_proc_folder("platform", kapi_devices_kobj()->sd);
	if (!pdev->dev.parent)
		pdev->dev.parent = &bus;
	error = set_name(pdev) ?: device_add(&pdev->dev);
	if (error)
		return error;
	mutex_lock(&lists);
	list_add_tail(&pdev->kapi_entry, &devices);
	mutex_unlock(&lists);
	driver = driver_for(pdev);
	if (driver)
		probe(pdev, driver);
	return 0;
}

void platform_device_del(struct platform_device *pdev)
{
	if (IS_ERR_OR_NULL(pdev))
		return;
	leave(pdev);
	mutex_lock(&lists);
	list_del_init(&pdev->kapi_entry);
	mutex_unlock(&lists);
	device_del(&pdev->dev);
}

void platform_device_put(struct platform_device *pdev)
{
	if (!IS_ERR_OR_NULL(pdev))
		put_device(&pdev->dev);
}

int platform_device_register(struct platform_device *pdev)
{
	initialize(pdev);
	return platform_device_add(pdev);
}

void platform_device_unregister(struct platform_device *pdev)
{
	platform_device_del(pdev);
	platform_device_put(pdev);
}

struct platform_device *platform_device_register_full(const struct platform_device_info *info)
{
	struct platform_device *pdev = make(info->name, info->id, _RET_IP_);
	int error;

	if (!pdev)
		return ERR_PTR(-ENOMEM);
	pdev->dev.parent = info->parent;
	if (info->dma_mask) {
		pdev->platform_dma_mask = info->dma_mask;
		pdev->dev.coherent_dma_mask = info->dma_mask;
	}
	error = platform_device_add_resources(pdev, info->res, info->num_res) ?:
		platform_device_add_data(pdev, info->data, info->size_data) ?: platform_device_add(pdev);
	if (!error)
		return pdev;
	platform_device_put(pdev);
	return ERR_PTR(error);
}

struct resource *platform_get_resource(struct platform_device *pdev, unsigned int type, unsigned int num)
{
	u32 i;

	for (i = 0; i < pdev->num_resources; i++)
		if (resource_type(&pdev->resource[i]) == type && num-- == 0)
			return &pdev->resource[i];
	return NULL;
}
