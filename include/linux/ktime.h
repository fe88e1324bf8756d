/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Nanoseconds as a scalar. A union before 4.10; modules of that time read it by these functions or .tv64. */
#ifndef _LINUX_KTIME_H
#define _LINUX_KTIME_H

#include <linux/jiffies.h>
#include <linux/time.h>
#include <linux/version.h>

#if LINUX_VERSION_CODE < KERNEL_VERSION(4, 10, 0)
typedef union {
	s64 tv64;
} ktime_t;
#define __kapi_kt(ns) ((ktime_t){ .tv64 = (ns) })
#define __kapi_ns(kt) ((kt).tv64)
#else
typedef s64 ktime_t;
#define __kapi_kt(ns) ((ktime_t)(ns))
#define __kapi_ns(kt) (kt)
#endif
#define KTIME_MAX S64_MAX

static inline ktime_t ktime_set(s64 seconds, unsigned long ns) { return __kapi_kt(seconds * NSEC_PER_SEC + (s64)ns); }
static inline ktime_t ns_to_ktime(u64 ns) { return __kapi_kt((s64)ns); }
static inline ktime_t ms_to_ktime(u64 ms) { return __kapi_kt((s64)ms * NSEC_PER_MSEC); }
static inline ktime_t us_to_ktime(u64 us) { return __kapi_kt((s64)us * NSEC_PER_USEC); }
static inline ktime_t ktime_get(void) { return __kapi_kt((s64)ktime_get_ns()); }
static inline ktime_t ktime_get_real(void) { return __kapi_kt((s64)ktime_get_real_ns()); }
static inline s64 ktime_to_ns(const ktime_t kt) { return __kapi_ns(kt); }
static inline s64 ktime_to_us(const ktime_t kt) { return __kapi_ns(kt) / NSEC_PER_USEC; }
static inline s64 ktime_to_ms(const ktime_t kt) { return __kapi_ns(kt) / NSEC_PER_MSEC; }
static inline ktime_t ktime_add(const ktime_t a, const ktime_t b) { return __kapi_kt(__kapi_ns(a) + __kapi_ns(b)); }
static inline ktime_t ktime_sub(const ktime_t a, const ktime_t b) { return __kapi_kt(__kapi_ns(a) - __kapi_ns(b)); }
static inline ktime_t ktime_add_ns(const ktime_t kt, u64 ns) { return __kapi_kt(__kapi_ns(kt) + (s64)ns); }
#define ktime_add_us(kt, us) ktime_add_ns(kt, (u64)(us) * NSEC_PER_USEC)
#define ktime_add_ms(kt, ms) ktime_add_ns(kt, (u64)(ms) * NSEC_PER_MSEC)
#define ktime_sub_ns(kt, ns) ktime_add_ns(kt, -(u64)(ns))

static inline s64 ktime_us_delta(const ktime_t later, const ktime_t earlier)
{
	return ktime_to_us(ktime_sub(later, earlier));
}

static inline s64 ktime_ms_delta(const ktime_t later, const ktime_t earlier)
{
	return ktime_to_ms(ktime_sub(later, earlier));
}

static inline int ktime_compare(const ktime_t a, const ktime_t b)
{
	return __kapi_ns(a) < __kapi_ns(b) ? -1 : __kapi_ns(a) > __kapi_ns(b);
}
#define ktime_after(a, b) (ktime_compare(a, b) > 0)
#define ktime_before(a, b) (ktime_compare(a, b) < 0)
#define ktime_equal(a, b) (ktime_compare(a, b) == 0)
#define ktime_to_timespec(kt) ns_to_timespec(ktime_to_ns(kt))
#define ktime_to_timespec64(kt) ns_to_timespec64(ktime_to_ns(kt))
#define ktime_to_timeval(kt) ns_to_timeval(ktime_to_ns(kt))
#define timespec_to_ktime(ts) ns_to_ktime((u64)timespec_to_ns(&(ts)))
#define ktime_get_boottime() ktime_get()
#define ktime_get_raw() ktime_get()
#define ktime_get_raw_ns() ktime_get_ns()
#define ktime_get_boottime_ns() ktime_get_ns()
#define ktime_get_boot_ns() ktime_get_ns()
#define ktime_get_mono_fast_ns() ktime_get_ns()
#define ktime_get_coarse() ktime_get()

#endif
