// SPDX-License-Identifier: MIT OR Apache-2.0
// Dates of real-time clocks.
#include <linux/errno.h>
#include <linux/rtc.h>

int rtc_month_days(unsigned int month, unsigned int year)
{
	/* Bits of the months with 31 days. */
	return month == 1 ? 28 + is_leap_year(year) : 30 + (0xad5 >> month & 1);
}

int rtc_year_days(unsigned int day, unsigned int month, unsigned int year)
{
	int days = (int)day - 1;

	while (month--)
		days += rtc_month_days(month, year);
	return days;
}

int rtc_valid_tm(struct rtc_time *tm)
{
	if (tm->tm_year < 70 || tm->tm_year > INT_MAX - 1900 || (unsigned int)tm->tm_mon >= 12 || tm->tm_mday < 1)
		return -EINVAL;
	if (tm->tm_mday > rtc_month_days((unsigned int)tm->tm_mon, (unsigned int)tm->tm_year + 1900))
		return -EINVAL;
	if ((unsigned int)tm->tm_hour >= 24 || (unsigned int)tm->tm_min >= 60 || (unsigned int)tm->tm_sec >= 60)
		return -EINVAL;
	return 0;
}

void rtc_time64_to_tm(time64_t time, struct rtc_time *tm)
{
	struct tm date;

	time64_to_tm(time, 0, &date);
	*tm = (struct rtc_time){
		.tm_sec = date.tm_sec,
		.tm_min = date.tm_min,
		.tm_hour = date.tm_hour,
		.tm_mday = date.tm_mday,
		.tm_mon = date.tm_mon,
		.tm_year = (int)date.tm_year,
		.tm_wday = date.tm_wday,
		.tm_yday = date.tm_yday + 1,
	};
}

time64_t rtc_tm_to_time64(struct rtc_time *tm)
{
	return mktime64((unsigned int)tm->tm_year + 1900, (unsigned int)tm->tm_mon + 1, (unsigned int)tm->tm_mday,
			(unsigned int)tm->tm_hour, (unsigned int)tm->tm_min, (unsigned int)tm->tm_sec);
}

ktime_t rtc_tm_to_ktime(struct rtc_time tm) { return ktime_set(rtc_tm_to_time64(&tm), 0); }

struct rtc_time rtc_ktime_to_tm(ktime_t kt)
{
	struct rtc_time tm;
	s64 ns = ktime_to_ns(kt), seconds = ns / NSEC_PER_SEC;

	/* A part of a second counts as one. */
	rtc_time64_to_tm(seconds + (ns % NSEC_PER_SEC > 0), &tm);
	return tm;
}
