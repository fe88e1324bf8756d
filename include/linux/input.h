/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Input devices: what they can report, and what they report. A device keeps the state of its keys, switches, lights and
 * positions; nobody reads its events, and no key repeats.
 *
 * Linux counterpart: include/linux/input.h @ 6.12, without handlers and force feedback.
 */
#ifndef _LINUX_INPUT_H
#define _LINUX_INPUT_H

#include <kapi/bytes.h>
#include <linux/bitops.h>
#include <linux/device.h>
#include <linux/fs.h>
#include <linux/input-event-codes.h>
#include <linux/kernel.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/spinlock.h>
#include <linux/time.h>
#include <linux/timer.h>
#include <linux/types.h>

#define FF_MAX 0x7f
#define FF_CNT (FF_MAX + 1)

/* Where a device is. */
enum {
	BUS_PCI = 0x01, BUS_ISAPNP, BUS_USB, BUS_HIL, BUS_BLUETOOTH, BUS_VIRTUAL,
	BUS_ISA = 0x10, BUS_I8042, BUS_XTKBD, BUS_RS232, BUS_GAMEPORT, BUS_PARPORT, BUS_AMIGA, BUS_ADB, BUS_I2C, BUS_HOST,
	BUS_GSC, BUS_ATARI, BUS_SPI, BUS_RMI, BUS_CEC, BUS_INTEL_ISHTP,
};

struct input_id {
	__u16 bustype, vendor, product, version;
};

/* A position, and between which it lies. */
struct input_absinfo {
	__s32 value, minimum, maximum, fuzz, flat, resolution;
};

struct input_value {
	__u16 type, code;
	__s32 value;
};

struct input_dev {
	union {
		struct {
			const char *name, *phys, *uniq;
			struct input_id id;
			unsigned long propbit[BITS_TO_LONGS(INPUT_PROP_CNT)];
			unsigned long evbit[BITS_TO_LONGS(EV_CNT)];
			unsigned long keybit[BITS_TO_LONGS(KEY_CNT)];
			unsigned long relbit[BITS_TO_LONGS(REL_CNT)];
			unsigned long absbit[BITS_TO_LONGS(ABS_CNT)];
			unsigned long mscbit[BITS_TO_LONGS(MSC_CNT)];
			unsigned long ledbit[BITS_TO_LONGS(LED_CNT)];
			unsigned long sndbit[BITS_TO_LONGS(SND_CNT)];
			unsigned long ffbit[BITS_TO_LONGS(FF_CNT)];
			unsigned long swbit[BITS_TO_LONGS(SW_CNT)];
			unsigned int hint_events_per_packet;
			unsigned int keycodemax, keycodesize;
			void *keycode;
			unsigned int repeat_key;
			struct timer_list timer;
			int rep[REP_CNT];
			struct input_absinfo *absinfo;
			unsigned long key[BITS_TO_LONGS(KEY_CNT)];
			unsigned long led[BITS_TO_LONGS(LED_CNT)];
			unsigned long snd[BITS_TO_LONGS(SND_CNT)];
			unsigned long sw[BITS_TO_LONGS(SW_CNT)];
			int (*open)(struct input_dev *dev);
			void (*close)(struct input_dev *dev);
			int (*flush)(struct input_dev *dev, struct file *file);
			int (*event)(struct input_dev *dev, unsigned int type, unsigned int code, int value);
			spinlock_t event_lock;
			struct mutex mutex;
			unsigned int users;
			bool going_away, devres_managed;
			struct device dev;
			struct list_head node;
		};
		u8 kapi_bytes[KAPI_INPUT_DEV_BYTES];
	};
};
KAPI_IS_LARGE(struct input_dev, KAPI_INPUT_DEV_BYTES);
#define to_input_dev(d) container_of(d, struct input_dev, dev)

extern struct input_dev *input_allocate_device(void);
/* A device that goes with another: it is unregistered and freed with that. */
extern struct input_dev *devm_input_allocate_device(struct device *parent);
/* For a device that was not registered; one that was is freed when it is unregistered. */
extern void input_free_device(struct input_dev *dev);
extern int input_register_device(struct input_dev *dev);
extern void input_unregister_device(struct input_dev *dev);
/* What the device has not said that it reports is ignored. */
extern void input_event(struct input_dev *dev, unsigned int type, unsigned int code, int value);
extern void input_set_capability(struct input_dev *dev, unsigned int type, unsigned int code);
extern void input_alloc_absinfo(struct input_dev *dev);
extern void input_set_abs_params(struct input_dev *dev, unsigned int axis, int min, int max, int fuzz, int flat);

static inline struct input_dev *input_get_device(struct input_dev *dev)
{
	return dev ? to_input_dev(get_device(&dev->dev)) : NULL;
}
static inline void input_put_device(struct input_dev *dev)
{
	if (dev)
		put_device(&dev->dev);
}
static inline void *input_get_drvdata(struct input_dev *dev) { return dev_get_drvdata(&dev->dev); }
static inline void input_set_drvdata(struct input_dev *dev, void *data) { dev_set_drvdata(&dev->dev, data); }
static inline void input_set_events_per_packet(struct input_dev *dev, int n_events)
{
	dev->hint_events_per_packet = (unsigned int)n_events;
}

static inline void input_report_key(struct input_dev *dev, unsigned int code, int value)
{
	input_event(dev, EV_KEY, code, !!value);
}
static inline void input_report_rel(struct input_dev *dev, unsigned int code, int value)
{
	input_event(dev, EV_REL, code, value);
}
static inline void input_report_abs(struct input_dev *dev, unsigned int code, int value)
{
	input_event(dev, EV_ABS, code, value);
}
static inline void input_report_switch(struct input_dev *dev, unsigned int code, int value)
{
	input_event(dev, EV_SW, code, !!value);
}
static inline void input_sync(struct input_dev *dev) { input_event(dev, EV_SYN, SYN_REPORT, 0); }
static inline void input_mt_sync(struct input_dev *dev) { input_event(dev, EV_SYN, SYN_MT_REPORT, 0); }

/* Reads and sets a field of a position, 0 where the device has none. */
#define __KAPI_INPUT_ABS(name, field) \
	static inline int input_abs_get_##name(struct input_dev *dev, unsigned int axis) \
	{ \
		return dev->absinfo ? dev->absinfo[axis].field : 0; \
	} \
	static inline void input_abs_set_##name(struct input_dev *dev, unsigned int axis, int value) \
	{ \
		input_alloc_absinfo(dev); \
		if (dev->absinfo) \
			dev->absinfo[axis].field = value; \
	}
__KAPI_INPUT_ABS(val, value)
__KAPI_INPUT_ABS(min, minimum)
__KAPI_INPUT_ABS(max, maximum)
__KAPI_INPUT_ABS(fuzz, fuzz)
__KAPI_INPUT_ABS(flat, flat)
__KAPI_INPUT_ABS(res, resolution)

#endif
