/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Devices for a case, which go with it. */
#ifndef _KUNIT_DEVICE_H
#define _KUNIT_DEVICE_H

#include <kunit/test.h>
#include <linux/device.h>

extern struct device_driver *kunit_driver_create(struct kunit *test, const char *name);
extern struct device *kunit_device_register_with_driver(struct kunit *test, const char *name,
							const struct device_driver *drv);
extern struct device *kunit_device_register(struct kunit *test, const char *name);
extern void kunit_device_unregister(struct kunit *test, struct device *dev);

#endif
