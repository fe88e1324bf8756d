// SPDX-License-Identifier: MIT OR Apache-2.0
// Character devices with nothing but a name, and the device of each in /sys/class/misc.
#include "host.h"
#include <linux/device.h>
#include <linux/kernel.h>
#include <linux/miscdevice.h>

/* The class is nobody's to free. */
static struct class misc_class = { .name = "misc" };
static atomic_t minors = ATOMIC_INIT(127);

int misc_register(struct miscdevice *misc)
{
	static int known;
	struct device *dev;

	if (!xchg(&known, 1) && class_register(&misc_class))
		return -ENOMEM;
	if (kapi_misc_has(misc->minor))
		return -EBUSY;
	if (misc->minor == MISC_DYNAMIC_MINOR)
		misc->minor = atomic_dec_return(&minors);
	dev = kapi_device_for(&misc_class, misc->parent, MKDEV(10, misc->minor), misc, misc->groups, misc->name,
			      _RET_IP_);
	if (IS_ERR(dev))
		return (int)PTR_ERR(dev);
	/* One thing stands for the module, not three. */
	kapi_gone(&misc_class);
	kapi_gone(&dev->kobj);
	misc->this_device = dev;
	kapi_misc_add(misc);
	return 0;
}

int misc_deregister(struct miscdevice *misc)
{
	if (WARN_ON(list_empty(&misc->list)))
		return -EINVAL;
	list_del_init(&misc->list);
	kapi_gone(misc);
	device_unregister(misc->this_device);
	return 0;
}
