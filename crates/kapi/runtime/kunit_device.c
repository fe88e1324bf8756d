// SPDX-License-Identifier: MIT OR Apache-2.0
// Devices and drivers of KUnit's cases.
#include "host.h"
#include <kunit/device.h>
#include <kunit/platform_device.h>
#include <linux/completion.h>
#include <linux/platform_device.h>

/* Also from a device that has no driver. */
static void unregister(void *data)
{
	struct device *dev = data;
	struct device_driver *driver = dev->driver;

	if (driver) {
		device_lock(dev);
		if (driver->remove)
			driver->remove(dev);
		devres_release_all(dev);
		dev->driver = NULL;
		device_unlock(dev);
	}
	root_device_unregister(dev);
}

struct device *kunit_device_register_with_driver(struct kunit *test, const char *name, const struct device_driver *drv)
{
	struct device *dev = root_device_register(name);
	int error;

	if (IS_ERR(dev))
		return dev;
	error = kunit_add_action_or_reset(test, unregister, dev);
	if (error)
		return ERR_PTR(error);
	if (drv) {
		device_lock(dev);
		dev->driver = (struct device_driver *)drv;
		if (drv->probe && drv->probe(dev)) {
			devres_release_all(dev);
			dev->driver = NULL;
		}
		device_unlock(dev);
	}
	return dev;
}

static int probe_nothing(struct device *dev) { return 0; }

struct device_driver *kunit_driver_create(struct kunit *test, const char *name)
{
	struct device_driver *driver = kunit_kzalloc(test, sizeof(*driver), GFP_KERNEL);

	if (!driver)
		return ERR_PTR(-ENOMEM);
	driver->name = name;
	driver->owner = THIS_MODULE;
	driver->probe = probe_nothing;
	return driver;
}

struct device *kunit_device_register(struct kunit *test, const char *name)
{
	struct device_driver *driver = kunit_driver_create(test, name);

	return IS_ERR(driver) ? ERR_CAST(driver) : kunit_device_register_with_driver(test, name, driver);
}

void kunit_device_unregister(struct kunit *test, struct device *dev) { kunit_release_action(test, unregister, dev); }

KUNIT_DEFINE_ACTION_WRAPPER(put_pdev, platform_device_put, struct platform_device *)
KUNIT_DEFINE_ACTION_WRAPPER(remove_pdev, platform_device_unregister, struct platform_device *)
KUNIT_DEFINE_ACTION_WRAPPER(remove_pdrv, platform_driver_unregister, struct platform_driver *)

struct platform_device *kunit_platform_device_alloc(struct kunit *test, const char *name, int id)
{
	struct platform_device *pdev = platform_device_alloc(name, id);

	return pdev && !kunit_add_action_or_reset(test, put_pdev, pdev) ? pdev : NULL;
}

int kunit_platform_device_add(struct kunit *test, struct platform_device *pdev)
{
	int error = platform_device_add(pdev);

	if (error)
		return error;
	/* Now more is to be done in the end than to put it. */
	kunit_remove_action(test, put_pdev, pdev);
	return kunit_add_action_or_reset(test, remove_pdev, pdev);
}

static void wait_no_more(void *data)
{
	struct platform_device *pdev = data;

	pdev->dev.kapi_bound = NULL;
	put_device(&pdev->dev);
}

int kunit_platform_device_prepare_wait_for_probe(struct kunit *test, struct platform_device *pdev, struct completion *x)
{
	device_lock(&pdev->dev);
	pdev->dev.kapi_bound = x;
	if (pdev->dev.driver)
		complete(x);
	device_unlock(&pdev->dev);
	get_device(&pdev->dev);
	return kunit_add_action_or_reset(test, wait_no_more, pdev);
}

int kunit_platform_driver_register(struct kunit *test, struct platform_driver *drv)
{
	int error = platform_driver_register(drv);

	return error ?: kunit_add_action_or_reset(test, remove_pdrv, drv);
}
