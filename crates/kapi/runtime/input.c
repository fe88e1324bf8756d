// SPDX-License-Identifier: MIT OR Apache-2.0
// Input devices: what they can report and the state that it leaves; nobody reads their events.
#include "host.h"
#include <linux/input.h>
#include <linux/slab.h>
#include <linux/string.h>

/* The class is nobody's to free. */
static struct class input_class = { .name = "input" };
static atomic_t count = ATOMIC_INIT(-1);

#define TEXT(field) \
	static ssize_t field##_show(struct device *dev, struct device_attribute *attr, char *buf) \
	{ \
		return sysfs_emit(buf, "%s\n", to_input_dev(dev)->field ?: ""); \
	} \
	static DEVICE_ATTR_RO(field)
TEXT(name);
TEXT(phys);
TEXT(uniq);

#define ID(field) \
	static ssize_t field##_show(struct device *dev, struct device_attribute *attr, char *buf) \
	{ \
		return sysfs_emit(buf, "%04x\n", to_input_dev(dev)->id.field); \
	} \
	static DEVICE_ATTR_RO(field)
ID(bustype);
ID(vendor);
ID(product);
ID(version);

static struct attribute *texts[] = { &dev_attr_name.attr, &dev_attr_phys.attr, &dev_attr_uniq.attr, NULL };
static struct attribute *ids[] = {
	&dev_attr_bustype.attr, &dev_attr_vendor.attr, &dev_attr_product.attr, &dev_attr_version.attr, NULL
};
static const struct attribute_group text_group = { .attrs = texts }, id_group = { .name = "id", .attrs = ids };
static const struct attribute_group *groups[] = { &text_group, &id_group, NULL };

/* The last reference is gone. */
static void release(struct device *device)
{
	struct input_dev *dev = to_input_dev(device);

	kfree(dev->absinfo);
	kfree(dev);
}

static const struct device_type input_type = { .groups = groups, .release = release };

static struct input_dev *allocate(unsigned long site)
{
	struct input_dev *dev = kapi_kmalloc_for(sizeof(*dev), GFP_KERNEL | __GFP_ZERO, site);

	if (!dev)
		return NULL;
	device_initialize(&dev->dev);
	dev->dev.type = &input_type;
	dev->dev.class = &input_class;
	mutex_init(&dev->mutex);
	spin_lock_init(&dev->event_lock);
	INIT_LIST_HEAD(&dev->node);
	if (!dev_set_name(&dev->dev, "input%d", atomic_inc_return(&count)))
		return dev;
	put_device(&dev->dev);
	return NULL;
}

struct input_dev *input_allocate_device(void) { return allocate(_RET_IP_); }

/* With the device that they are of. */
static void put_of_device(void *dev) { input_put_device(dev); }

static void remove(struct input_dev *dev)
{
	unsigned long flags;

	spin_lock_irqsave(&dev->event_lock, flags);
	dev->going_away = true;
	spin_unlock_irqrestore(&dev->event_lock, flags);
	kapi_gone(dev);
	device_del(&dev->dev);
}

static void remove_of_device(void *dev) { remove(dev); }

struct input_dev *devm_input_allocate_device(struct device *parent)
{
	struct input_dev *dev = allocate(_RET_IP_);

	if (!dev || devm_add_action_or_reset(parent, put_of_device, dev))
		return NULL;
	dev->dev.parent = parent;
	dev->devres_managed = true;
	return dev;
}

void input_free_device(struct input_dev *dev)
{
	if (!dev)
		return;
	if (dev->devres_managed)
		devm_remove_action(dev->dev.parent, put_of_device, dev);
	put_device(&dev->dev);
}

static int add(struct input_dev *dev)
{
	static int known;
	int error;

	if (test_bit(EV_ABS, dev->evbit) && !dev->absinfo) {
		dev_err(&dev->dev, "Absolute device without dev->absinfo, refusing to register\n");
		return -EINVAL;
	}
	if (!xchg(&known, 1) && class_register(&input_class))
		return -ENOMEM;
	kapi_gone(&input_class);
	__set_bit(EV_SYN, dev->evbit);
	__clear_bit(KEY_RESERVED, dev->keybit);
	error = device_add(&dev->dev);
	if (error)
		return error;
	/* One thing stands for the module, not two. */
	kapi_gone(&dev->dev.kobj);
	kapi_stands(dev, "the input device", dev->name ?: dev_name(&dev->dev));
	return 0;
}

int input_register_device(struct input_dev *dev)
{
	int error;

	might_sleep();
	error = add(dev);
	if (error || !dev->devres_managed)
		return error;
	return devm_add_action_or_reset(dev->dev.parent, remove_of_device, dev);
}

void input_unregister_device(struct input_dev *dev)
{
	might_sleep();
	if (WARN_ON(!device_is_registered(&dev->dev)))
		return;
	if (dev->devres_managed) {
		devm_remove_action(dev->dev.parent, remove_of_device, dev);
		remove(dev);
		return;
	}
	remove(dev);
	put_device(&dev->dev);
}

/* The codes of a type that a device reports, and the last that there can be; NULL for a type without codes. */
static unsigned long *codes(struct input_dev *dev, unsigned int type, unsigned int *last)
{
	switch (type) {
	case EV_KEY:
		*last = KEY_MAX;
		return dev->keybit;
	case EV_REL:
		*last = REL_MAX;
		return dev->relbit;
	case EV_ABS:
		*last = ABS_MAX;
		return dev->absbit;
	case EV_MSC:
		*last = MSC_MAX;
		return dev->mscbit;
	case EV_SW:
		*last = SW_MAX;
		return dev->swbit;
	case EV_LED:
		*last = LED_MAX;
		return dev->ledbit;
	case EV_SND:
		*last = SND_MAX;
		return dev->sndbit;
	case EV_FF:
		*last = FF_MAX;
		return dev->ffbit;
	default:
		return NULL;
	}
}

/* Sets a bit of the state; returns whether that changed it. */
static bool turned(unsigned long *state, unsigned int code, int value)
{
	if (!!test_bit(code, state) == !!value)
		return false;
	__change_bit(code, state);
	return true;
}

/* A position that trembles stays, or follows slowly. */
static int without_tremble(int value, int old, int fuzz)
{
	if (!fuzz || abs(value - old) >= fuzz * 2)
		return value;
	if (abs(value - old) < fuzz / 2)
		return old;
	return abs(value - old) < fuzz ? (old * 3 + value) / 4 : (old + value) / 2;
}

/* Under the lock: keeps what an event says; returns whether the device itself is told of it. */
static bool keep(struct input_dev *dev, unsigned int type, unsigned int code, int value)
{
	unsigned int last;
	unsigned long *known = codes(dev, type, &last);

	if (known && (code > last || !test_bit(code, known)))
		return false;
	switch (type) {
	case EV_KEY:
		/* One that is still held is no change. */
		if (value != 2)
			turned(dev->key, code, value);
		return false;
	case EV_SW:
		turned(dev->sw, code, value);
		return false;
	case EV_ABS:
		if (dev->absinfo)
			dev->absinfo[code].value =
				without_tremble(value, dev->absinfo[code].value, dev->absinfo[code].fuzz);
		return false;
	case EV_LED:
		return turned(dev->led, code, value);
	case EV_SND:
		turned(dev->snd, code, value);
		return true;
	case EV_REP:
		if (code > REP_MAX || value < 0 || dev->rep[code] == value)
			return false;
		dev->rep[code] = value;
		return true;
	case EV_FF:
		return value >= 0;
	default:
		return type == EV_MSC || type == EV_PWR;
	}
}

void input_event(struct input_dev *dev, unsigned int type, unsigned int code, int value)
{
	unsigned long flags;

	if (type > EV_MAX || !test_bit(type, dev->evbit))
		return;
	spin_lock_irqsave(&dev->event_lock, flags);
	if (keep(dev, type, code, value) && dev->event)
		dev->event(dev, type, code, value);
	spin_unlock_irqrestore(&dev->event_lock, flags);
}

static void allocate_positions(struct input_dev *dev, unsigned long site)
{
	if (!dev->absinfo)
		dev->absinfo = kapi_kmalloc_for(ABS_CNT * sizeof(*dev->absinfo), GFP_KERNEL | __GFP_ZERO, site);
}

void input_alloc_absinfo(struct input_dev *dev) { allocate_positions(dev, _RET_IP_); }

void input_set_capability(struct input_dev *dev, unsigned int type, unsigned int code)
{
	unsigned int last = 0;
	unsigned long *known = codes(dev, type, &last);

	if (!known && type != EV_PWR) {
		pr_err("input_set_capability: unknown type %u (code %u)\n", type, code);
		return;
	}
	if (known && code > last) {
		pr_err("input_set_capability: invalid code %u for type %u\n", code, type);
		return;
	}
	if (type == EV_ABS) {
		allocate_positions(dev, _RET_IP_);
		if (!dev->absinfo)
			return;
	}
	if (known)
		__set_bit(code, known);
	__set_bit(type, dev->evbit);
}

void input_set_abs_params(struct input_dev *dev, unsigned int axis, int min, int max, int fuzz, int flat)
{
	__set_bit(EV_ABS, dev->evbit);
	__set_bit(axis, dev->absbit);
	allocate_positions(dev, _RET_IP_);
	if (!dev->absinfo)
		return;
	dev->absinfo[axis].minimum = min;
	dev->absinfo[axis].maximum = max;
	dev->absinfo[axis].fuzz = fuzz;
	dev->absinfo[axis].flat = flat;
}
