/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Time of day, in all the forms that the kernel has had. */
#ifndef _LINUX_TIME_H
#define _LINUX_TIME_H

#include <linux/types.h>
#include <linux/kconfig.h>
#include <linux/math64.h>

#define MSEC_PER_SEC 1000L
#define USEC_PER_MSEC 1000L
#define NSEC_PER_USEC 1000L
#define NSEC_PER_MSEC 1000000L
#define USEC_PER_SEC 1000000L
#define NSEC_PER_SEC 1000000000L

struct timespec64 {
	time64_t tv_sec;
	long tv_nsec;
};

struct timespec {
	time_t tv_sec;
	long tv_nsec;
};

struct timeval {
	time_t tv_sec;
	suseconds_t tv_usec;
};

struct timezone {
	int tz_minuteswest;
	int tz_dsttime;
};

struct tm {
	int tm_sec, tm_min, tm_hour, tm_mday, tm_mon;
	long tm_year;
	int tm_wday, tm_yday;
};

#define CLOCK_REALTIME 0
#define CLOCK_MONOTONIC 1

/* Nanoseconds since the host started, and since 1970. */
extern u64 ktime_get_ns(void);
extern u64 ktime_get_real_ns(void);

static inline struct timespec64 ns_to_timespec64(s64 ns)
{
	return (struct timespec64){ ns / NSEC_PER_SEC, (long)(ns % NSEC_PER_SEC) };
}

static inline struct timespec ns_to_timespec(s64 ns)
{
	return (struct timespec){ ns / NSEC_PER_SEC, (long)(ns % NSEC_PER_SEC) };
}

static inline struct timeval ns_to_timeval(s64 ns)
{
	return (struct timeval){ ns / NSEC_PER_SEC, (ns % NSEC_PER_SEC) / NSEC_PER_USEC };
}

static inline s64 timespec64_to_ns(const struct timespec64 *ts) { return ts->tv_sec * NSEC_PER_SEC + ts->tv_nsec; }
static inline s64 timespec_to_ns(const struct timespec *ts) { return ts->tv_sec * NSEC_PER_SEC + ts->tv_nsec; }

static inline s64 timeval_to_ns(const struct timeval *tv)
{
	return tv->tv_sec * NSEC_PER_SEC + tv->tv_usec * NSEC_PER_USEC;
}

static inline struct timespec64 timespec64_sub(struct timespec64 a, struct timespec64 b)
{
	return ns_to_timespec64(timespec64_to_ns(&a) - timespec64_to_ns(&b));
}

static inline struct timespec64 timespec64_add(struct timespec64 a, struct timespec64 b)
{
	return ns_to_timespec64(timespec64_to_ns(&a) + timespec64_to_ns(&b));
}

static inline struct timespec timespec_sub(struct timespec a, struct timespec b)
{
	return ns_to_timespec(timespec_to_ns(&a) - timespec_to_ns(&b));
}

static inline struct timespec timespec_add(struct timespec a, struct timespec b)
{
	return ns_to_timespec(timespec_to_ns(&a) + timespec_to_ns(&b));
}

static inline int timespec_compare(const struct timespec *a, const struct timespec *b)
{
	s64 delta = timespec_to_ns(a) - timespec_to_ns(b);

	return delta < 0 ? -1 : delta > 0;
}

static inline int timeval_compare(const struct timeval *a, const struct timeval *b)
{
	s64 delta = timeval_to_ns(a) - timeval_to_ns(b);

	return delta < 0 ? -1 : delta > 0;
}

static inline void ktime_get_ts64(struct timespec64 *ts) { *ts = ns_to_timespec64((s64)ktime_get_ns()); }
static inline void ktime_get_real_ts64(struct timespec64 *ts) { *ts = ns_to_timespec64((s64)ktime_get_real_ns()); }
#define ktime_get_raw_ts64(ts) ktime_get_ts64(ts)
#define ktime_get_boottime_ts64(ts) ktime_get_ts64(ts)
#define ktime_get_coarse_real_ts64(ts) ktime_get_real_ts64(ts)
#define getnstimeofday64(ts) ktime_get_real_ts64(ts)
#define ktime_get_real_seconds() ((time64_t)(ktime_get_real_ns() / NSEC_PER_SEC))
#define ktime_get_seconds() ((time64_t)(ktime_get_ns() / NSEC_PER_SEC))

/* Gone since 5.6. */
static inline void do_gettimeofday(struct timeval *tv) { *tv = ns_to_timeval((s64)ktime_get_real_ns()); }
static inline void getnstimeofday(struct timespec *ts) { *ts = ns_to_timespec((s64)ktime_get_real_ns()); }
static inline void ktime_get_ts(struct timespec *ts) { *ts = ns_to_timespec((s64)ktime_get_ns()); }
static inline void getrawmonotonic(struct timespec *ts) { ktime_get_ts(ts); }
static inline struct timespec current_kernel_time(void) { return ns_to_timespec((s64)ktime_get_real_ns()); }
static inline unsigned long get_seconds(void) { return ktime_get_real_ns() / NSEC_PER_SEC; }
#define do_posix_clock_monotonic_gettime(ts) ktime_get_ts(ts)
#define getrawmonotonic64(ts) ktime_get_ts64(ts)
#define ktime_get_real_ts(ts) getnstimeofday(ts)
#define CURRENT_TIME current_kernel_time()
#define xtime current_kernel_time()

/* Seconds since 1970 of a date, whose months count from 1. */
extern time64_t mktime64(unsigned int year, unsigned int mon, unsigned int day, unsigned int hour, unsigned int min,
			 unsigned int sec);
extern void time64_to_tm(time64_t seconds, int offset, struct tm *result);
#define time_to_tm(seconds, offset, result) time64_to_tm(seconds, offset, result)

#endif
