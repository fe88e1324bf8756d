/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* printk() and its kind. Lines go to the log that `slablab insmod` prints with timestamps. */
#ifndef _LINUX_PRINTK_H
#define _LINUX_PRINTK_H

#include <linux/stdarg.h>
#include <linux/types.h>
#include <linux/kern_levels.h>
#include <linux/compiler.h>

struct va_format {
	const char *fmt;
	va_list *va;
};

extern int printk(const char *fmt, ...);
extern int vprintk(const char *fmt, va_list args);
extern int printk_ratelimit(void);
extern void dump_stack(void);
/* A function of the module and the place in it, as %pS has it. */
extern int sprint_symbol(char *buffer, unsigned long address);
extern int sprint_symbol_no_offset(char *buffer, unsigned long address);
extern void print_hex_dump(const char *level, const char *prefix, int prefix_type, int rowsize,
			   int groupsize, const void *buf, size_t len, bool ascii);
extern int hex_dump_to_buffer(const void *buf, size_t len, int rowsize, int groupsize, char *line,
			      size_t size, bool ascii);
#define _printk printk

enum {
	DUMP_PREFIX_NONE,
	DUMP_PREFIX_ADDRESS,
	DUMP_PREFIX_OFFSET
};
#define print_hex_dump_debug(prefix, prefix_type, rowsize, groupsize, buf, len, ascii) \
	print_hex_dump(KERN_DEBUG, prefix, prefix_type, rowsize, groupsize, buf, len, ascii)
#define print_hex_dump_bytes(prefix, prefix_type, buf, len) \
	print_hex_dump(KERN_DEBUG, prefix, prefix_type, 16, 1, buf, len, true)

#ifndef pr_fmt
#define pr_fmt(fmt) fmt
#endif

#define no_printk(fmt, ...) ({ \
	if (0) \
		printk(fmt, ##__VA_ARGS__); \
	0; })

#define pr_emerg(fmt, ...) printk(KERN_EMERG pr_fmt(fmt), ##__VA_ARGS__)
#define pr_alert(fmt, ...) printk(KERN_ALERT pr_fmt(fmt), ##__VA_ARGS__)
#define pr_crit(fmt, ...) printk(KERN_CRIT pr_fmt(fmt), ##__VA_ARGS__)
#define pr_err(fmt, ...) printk(KERN_ERR pr_fmt(fmt), ##__VA_ARGS__)
#define pr_warn(fmt, ...) printk(KERN_WARNING pr_fmt(fmt), ##__VA_ARGS__)
#define pr_warning pr_warn
#define pr_notice(fmt, ...) printk(KERN_NOTICE pr_fmt(fmt), ##__VA_ARGS__)
#define pr_info(fmt, ...) printk(KERN_INFO pr_fmt(fmt), ##__VA_ARGS__)
#define pr_cont(fmt, ...) printk(KERN_CONT fmt, ##__VA_ARGS__)
#ifdef DEBUG
#define pr_debug(fmt, ...) printk(KERN_DEBUG pr_fmt(fmt), ##__VA_ARGS__)
#define pr_devel(fmt, ...) printk(KERN_DEBUG pr_fmt(fmt), ##__VA_ARGS__)
#else
#define pr_debug(fmt, ...) no_printk(KERN_DEBUG pr_fmt(fmt), ##__VA_ARGS__)
#define pr_devel(fmt, ...) no_printk(KERN_DEBUG pr_fmt(fmt), ##__VA_ARGS__)
#endif

#define printk_once(fmt, ...) ({ \
	static bool __kapi_printed; \
	if (!__kapi_printed) { \
		__kapi_printed = true; \
		printk(fmt, ##__VA_ARGS__); \
	} })
#define pr_emerg_once(fmt, ...) printk_once(KERN_EMERG pr_fmt(fmt), ##__VA_ARGS__)
#define pr_err_once(fmt, ...) printk_once(KERN_ERR pr_fmt(fmt), ##__VA_ARGS__)
#define pr_warn_once(fmt, ...) printk_once(KERN_WARNING pr_fmt(fmt), ##__VA_ARGS__)
#define pr_info_once(fmt, ...) printk_once(KERN_INFO pr_fmt(fmt), ##__VA_ARGS__)

#define printk_ratelimited(fmt, ...) ({ \
	if (printk_ratelimit()) \
		printk(fmt, ##__VA_ARGS__); })
#define pr_err_ratelimited(fmt, ...) printk_ratelimited(KERN_ERR pr_fmt(fmt), ##__VA_ARGS__)
#define pr_warn_ratelimited(fmt, ...) printk_ratelimited(KERN_WARNING pr_fmt(fmt), ##__VA_ARGS__)
#define pr_notice_ratelimited(fmt, ...) printk_ratelimited(KERN_NOTICE pr_fmt(fmt), ##__VA_ARGS__)
#define pr_info_ratelimited(fmt, ...) printk_ratelimited(KERN_INFO pr_fmt(fmt), ##__VA_ARGS__)

#endif
