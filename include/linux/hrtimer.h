/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* High-resolution timers, by the thread that runs the others. */
#ifndef _LINUX_HRTIMER_H
#define _LINUX_HRTIMER_H

#include <linux/ktime.h>
#include <linux/list.h>
#include <linux/version.h>
#include <kapi/bytes.h>

enum hrtimer_restart {
	HRTIMER_NORESTART,
	HRTIMER_RESTART
};
enum hrtimer_mode {
	HRTIMER_MODE_ABS,
	HRTIMER_MODE_REL,
	HRTIMER_MODE_ABS_PINNED,
	HRTIMER_MODE_REL_PINNED
};
#define HRTIMER_ABS HRTIMER_MODE_ABS
#define HRTIMER_REL HRTIMER_MODE_REL

/* The clock that a timer goes by. */
struct hrtimer_clock_base {
	ktime_t (*get_time)(void);
};

struct hrtimer {
	struct list_head entry;
	struct hrtimer_clock_base *base;
	u64 kapi_expires_ns;
	enum hrtimer_restart (*function)(struct hrtimer *timer);
	volatile unsigned int kapi_pending;
	unsigned long kapi_site;
	void *kapi_rest[KAPI_HRTIMER_BYTES / 8 - 7];
};
KAPI_IS_LARGE(struct hrtimer, KAPI_HRTIMER_BYTES);

/* Until a moment, or for a while: 0 when that is over, or -EINTR. */
extern int schedule_hrtimeout(ktime_t *expires, const enum hrtimer_mode mode);
extern int schedule_hrtimeout_range(ktime_t *expires, u64 delta, const enum hrtimer_mode mode);
extern void hrtimer_init(struct hrtimer *timer, clockid_t clock, enum hrtimer_mode mode);
extern void hrtimer_start(struct hrtimer *timer, ktime_t time, enum hrtimer_mode mode);
extern int hrtimer_cancel(struct hrtimer *timer);
/* Return: how many intervals the timer was moved on, to lie behind @now. */
extern u64 hrtimer_forward(struct hrtimer *timer, ktime_t now, ktime_t interval);
extern u64 hrtimer_forward_now(struct hrtimer *timer, ktime_t interval);
#define hrtimer_setup(timer, fn, clock, mode) \
	do { \
		hrtimer_init(timer, clock, mode); \
		(timer)->function = (fn); \
	} while (0)
#define hrtimer_active(timer) ((timer)->kapi_pending != 0)
#define hrtimer_try_to_cancel(timer) hrtimer_cancel(timer)

#endif
