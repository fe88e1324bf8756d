/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Waiting: *delay() spins, *sleep() sleeps. */
#ifndef _LINUX_DELAY_H
#define _LINUX_DELAY_H

#include <linux/jiffies.h>
#include <linux/sched.h>

extern void __ndelay(unsigned long ns);
extern void msleep(unsigned int ms);
extern unsigned long msleep_interruptible(unsigned int ms);
extern void usleep_range(unsigned long us_min, unsigned long us_max);

#define ndelay(ns) __ndelay(ns)
#define udelay(us) __ndelay((unsigned long)(us) * 1000)
#define mdelay(ms) __ndelay((unsigned long)(ms) * 1000000)
#define ssleep(s) msleep((s) * 1000)
#define fsleep(us) usleep_range(us, 2 * (us))
#define usleep_range_state(min, max, state) usleep_range(min, max)

#endif
