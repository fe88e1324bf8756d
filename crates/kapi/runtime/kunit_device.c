// SPDX-License-Identifier: MIT OR Apache-2.0
// Devices of KUnit's cases.
#include "host.h"
#include <kunit/device.h>

struct device *kunit_device_register(struct kunit *test, const char *name)
{
	struct device *dev = root_device_register(name);
	int error;

	if (IS_ERR(dev))
		return dev;
	error = kunit_add_action_or_reset(test, (void (*)(void *))root_device_unregister, dev);
	return error ? ERR_PTR(error) : dev;
}

void kunit_device_unregister(struct kunit *test, struct device *dev)
{
	kunit_release_action(test, (void (*)(void *))root_device_unregister, dev);
}
