/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Dates of real-time clocks: months from 0, years from 1900, days of a year from 1. There is no clock behind them.
 *
 * Linux counterpart: include/linux/rtc.h @ 6.12, without its devices.
 */
#ifndef _LINUX_RTC_H
#define _LINUX_RTC_H

#include <linux/ktime.h>
#include <linux/time.h>
#include <linux/types.h>

struct rtc_time {
	int tm_sec, tm_min, tm_hour, tm_mday, tm_mon, tm_year;
	int tm_wday, tm_yday, tm_isdst;
};

#define RTC_TIMESTAMP_BEGIN_0000 (-62167219200LL)
#define RTC_TIMESTAMP_BEGIN_1900 (-2208988800LL)
#define RTC_TIMESTAMP_BEGIN_2000 946684800LL
#define RTC_TIMESTAMP_END_2063 2966371199LL
#define RTC_TIMESTAMP_END_2079 3471292799LL
#define RTC_TIMESTAMP_END_2099 4102444799LL
#define RTC_TIMESTAMP_END_2199 7258118399LL
#define RTC_TIMESTAMP_END_9999 253402300799LL

static inline bool is_leap_year(unsigned int year) { return (year % 4 == 0 && year % 100 != 0) || year % 400 == 0; }

/* Days of a month; and the day of the year, counted from 0. */
extern int rtc_month_days(unsigned int month, unsigned int year);
extern int rtc_year_days(unsigned int day, unsigned int month, unsigned int year);
/* Return: 0 for a date and time of the calendar since 1970, else -EINVAL. */
extern int rtc_valid_tm(struct rtc_time *tm);
extern void rtc_time64_to_tm(time64_t time, struct rtc_time *tm);
extern time64_t rtc_tm_to_time64(struct rtc_time *tm);
extern ktime_t rtc_tm_to_ktime(struct rtc_time tm);
extern struct rtc_time rtc_ktime_to_tm(ktime_t kt);
static inline time64_t rtc_tm_sub(struct rtc_time *lhs, struct rtc_time *rhs)
{
	return rtc_tm_to_time64(lhs) - rtc_tm_to_time64(rhs);
}

#endif
