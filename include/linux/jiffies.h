/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Ticks since the start: a variable that the host's ticker thread advances. */
#ifndef _LINUX_JIFFIES_H
#define _LINUX_JIFFIES_H

#include <linux/math64.h>
#include <linux/param.h>
#include <linux/time.h>
#include <linux/types.h>
#include <linux/limits.h>

extern volatile unsigned long jiffies;
#define jiffies_64 ((u64)jiffies)
#define get_jiffies_64() ((u64)jiffies)
#define INITIAL_JIFFIES ((unsigned long)(unsigned int)(-300 * HZ))
#define MAX_JIFFY_OFFSET ((LONG_MAX >> 1) - 1)

#define time_after(a, b) ((long)((b) - (a)) < 0)
#define time_before(a, b) time_after(b, a)
#define time_after_eq(a, b) ((long)((a) - (b)) >= 0)
#define time_before_eq(a, b) time_after_eq(b, a)
#define time_in_range(a, b, c) (time_after_eq(a, b) && time_before_eq(a, c))
#define time_after64(a, b) ((s64)((b) - (a)) < 0)
#define time_before64(a, b) time_after64(b, a)
#define time_is_before_jiffies(a) time_after(jiffies, a)
#define time_is_after_jiffies(a) time_before(jiffies, a)

static inline unsigned int jiffies_to_msecs(unsigned long j) { return (unsigned int)(j * (1000 / HZ)); }
static inline unsigned int jiffies_to_usecs(unsigned long j) { return (unsigned int)(j * (1000000 / HZ)); }
static inline u64 jiffies_to_nsecs(unsigned long j) { return (u64)j * (1000000000 / HZ); }
static inline unsigned long msecs_to_jiffies(unsigned int ms) { return (ms + (1000 / HZ) - 1) / (1000 / HZ); }
#define secs_to_jiffies(seconds) ((unsigned long)((seconds) * HZ))
static inline unsigned long usecs_to_jiffies(unsigned int us) { return (us + (1000000 / HZ) - 1) / (1000000 / HZ); }
static inline unsigned long nsecs_to_jiffies(u64 ns) { return ns / (1000000000 / HZ); }
#define jiffies_64_to_clock_t(j) ((j) / (HZ / USER_HZ))
#define jiffies_to_clock_t(j) ((clock_t)((j) * USER_HZ / HZ))

static inline void jiffies_to_timespec(unsigned long j, struct timespec *ts)
{
	ts->tv_sec = (time_t)(j / HZ);
	ts->tv_nsec = (long)(j % HZ) * (1000000000 / HZ);
}

static inline unsigned long timespec_to_jiffies(const struct timespec *ts)
{
	return (unsigned long)ts->tv_sec * HZ + (unsigned long)ts->tv_nsec / (1000000000 / HZ);
}

static inline void jiffies_to_timeval(unsigned long j, struct timeval *tv)
{
	tv->tv_sec = (time_t)(j / HZ);
	tv->tv_usec = (suseconds_t)(j % HZ) * (1000000 / HZ);
}

static inline unsigned long timeval_to_jiffies(const struct timeval *tv)
{
	return (unsigned long)tv->tv_sec * HZ + (unsigned long)tv->tv_usec / (1000000 / HZ);
}

#endif
