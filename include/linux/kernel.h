/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What nearly everything includes: rounding, container_of, printing, reading numbers. */
#ifndef _LINUX_KERNEL_H
#define _LINUX_KERNEL_H

#include <linux/stdarg.h>
#include <linux/align.h>
#include <linux/array_size.h>
#include <linux/limits.h>
#include <linux/stddef.h>
#include <linux/types.h>
#include <linux/compiler.h>
#include <linux/container_of.h>
#include <linux/bitops.h>
#include <linux/kstrtox.h>
#include <linux/log2.h>
#include <linux/math.h>
#include <linux/minmax.h>
#include <linux/printk.h>
#include <linux/build_bug.h>
#include <linux/bug.h>
#include <linux/sprintf.h>
#include <linux/version.h>

#define REPEAT_BYTE(x) ((~0UL / 0xff) * (x))
#define upper_32_bits(n) ((u32)(((n) >> 16) >> 16))
#define lower_32_bits(n) ((u32)((n) & 0xffffffff))
#define upper_16_bits(n) ((u16)((n) >> 16))
#define lower_16_bits(n) ((u16)((n) & 0xffff))
#define PTR_IF(condition, ptr) ((condition) ? (ptr) : NULL)
#define u64_to_user_ptr(x) ((void __user *)(uintptr_t)(x))
#define typecheck(type, x) ({ \
	type __kapi_dummy; \
	typeof(x) __kapi_dummy2; \
	(void)(&__kapi_dummy == &__kapi_dummy2); \
	1; })

/* A call that may sleep; at check level 2 it is a finding where sleeping is forbidden. */
extern void kapi_might_sleep(const char *file, int line);
#ifndef might_sleep
#define might_sleep() kapi_might_sleep(__FILE__, __LINE__)
#endif
#define might_sleep_if(condition) \
	do { \
		if (condition) \
			might_sleep(); \
	} while (0)
#define cant_sleep() ((void)0)

extern void panic(const char *fmt, ...) __noreturn;
extern int get_option(char **str, int *value);
extern char *get_options(const char *str, int nints, int *ints);
extern char *next_arg(char *args, char **param, char **val);
extern unsigned long long memparse(const char *ptr, char **retptr);
extern int oops_in_progress;
extern int panic_timeout;

#include <asm/byteorder.h>
#include <linux/hex.h>
#include <asm/div64.h>

#define TAINT_WARN 9
#define TAINT_TEST 18
enum lockdep_ok {
	LOCKDEP_STILL_OK,
	LOCKDEP_NOW_UNRELIABLE
};
static inline void add_taint(unsigned int flag, int lockdep_ok)
{
	(void)flag;
	(void)lockdep_ok;
}
/* Goes to the log, as there is no buffer of traces. */
extern int kapi_trace_printk(const char *fmt, ...);
#define trace_printk(fmt, ...) kapi_trace_printk(fmt, ##__VA_ARGS__)
#define trace_puts(text) kapi_trace_printk("%s", text)

#endif
