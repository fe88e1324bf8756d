// SPDX-License-Identifier: MIT OR Apache-2.0
// printk() and its kind: the C ends of the host's formatter, since only C can take a `...`.
#include "host.h"
#include <linux/bug.h>
#include <linux/ctype.h>
#include <linux/kernel.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/jiffies.h>
#include <linux/sched.h>

#define LINE_BYTES_MAX 1024

static u64 fetch(struct kapi_args *args, int kind)
{
	switch (kind) {
	case KAPI_ARG_INT:
		return (u64)va_arg(args->list, int);
	case KAPI_ARG_LONG:
		return (u64)va_arg(args->list, long);
	case KAPI_ARG_LLONG:
		return va_arg(args->list, u64);
	default:
		return (u64)(unsigned long)va_arg(args->list, void *);
	}
}

/* %pV hands over a list of its own. */
int kapi_format_va(char *buf, size_t size, const struct va_format *vaf)
{
	return vsnprintf(buf, size, vaf->fmt, *vaf->va);
}

int vsnprintf(char *buf, size_t size, const char *fmt, va_list list)
{
	struct kapi_args args;
	int len;

	va_copy(args.list, list);
	len = kapi_format(buf, size, fmt, &args, fetch, kapi_module_site());
	va_end(args.list);
	return len;
}

int vscnprintf(char *buf, size_t size, const char *fmt, va_list args)
{
	int len = vsnprintf(buf, size, fmt, args);

	if (len < (int)size)
		return len;
	return size ? (int)size - 1 : 0;
}

int vsprintf(char *buf, const char *fmt, va_list args) { return vsnprintf(buf, INT_MAX, fmt, args); }
int snprintf(char *buf, size_t size, const char *fmt, ...) { return WITH_ARGS(fmt, vsnprintf(buf, size, fmt, args)); }
int scnprintf(char *buf, size_t size, const char *fmt, ...) { return WITH_ARGS(fmt, vscnprintf(buf, size, fmt, args)); }
int sprintf(char *buf, const char *fmt, ...) { return WITH_ARGS(fmt, vsprintf(buf, fmt, args)); }

char *kvasprintf(gfp_t gfp, const char *fmt, va_list args)
{
	va_list again;
	char *text;
	int len;

	va_copy(again, args);
	len = vsnprintf(NULL, 0, fmt, again);
	va_end(again);
	text = kmalloc((size_t)len + 1, gfp);
	if (text)
		vsnprintf(text, (size_t)len + 1, fmt, args);
	return text;
}

char *kasprintf(gfp_t gfp, const char *fmt, ...) { return WITH_ARGS(fmt, kvasprintf(gfp, fmt, args)); }

int vprintk(const char *fmt, va_list args)
{
	char text[LINE_BYTES_MAX];
	int len = vscnprintf(text, sizeof(text), fmt, args);

	kapi_log(text, (size_t)len);
	return len;
}

int printk(const char *fmt, ...) { return WITH_ARGS(fmt, vprintk(fmt, args)); }

static int trace(const char *fmt, va_list args)
{
	char text[LINE_BYTES_MAX];
	int len = vscnprintf(text, sizeof(text), fmt, args);

	printk(KERN_DEBUG "%s", text);
	return len;
}

int kapi_trace_printk(const char *fmt, ...) { return WITH_ARGS(fmt, trace(fmt, args)); }

/* Ten lines in five seconds, as the kernel's default. */
int printk_ratelimit(void)
{
	static unsigned long begin;
	static int printed;

	if (!printed || time_after(jiffies, begin + 5 * HZ)) {
		begin = jiffies;
		printed = 0;
	}
	return printed++ < 10;
}

static __attribute__((__noreturn__)) void stop(const char *text) { kapi_stop(text, strlen(text)); }

void panic(const char *fmt, ...)
{
	char text[LINE_BYTES_MAX];

	WITH_ARGS(fmt, vscnprintf(text, sizeof(text), fmt, args));
	printk(KERN_EMERG "Kernel panic - not syncing: %s\n", text);
	stop("panic");
}

void kapi_bug(const char *file, int line)
{
	printk(KERN_CRIT "kernel BUG at %s:%d!\n", file, line);
	stop("BUG");
}

void kapi_warn(const char *file, int line, const char *function, const char *fmt, ...)
{
	if (current->kapi_warnings) {
		++*current->kapi_warnings;
		return;
	}
	printk(KERN_WARNING "WARNING: CPU: %d PID: %d at %s:%d %s\n", smp_processor_id(),
	       current->pid, file, line, function);
	if (fmt)
		WITH_ARGS(fmt, vprintk(fmt, args));
}

void dump_stack(void)
{
	printk(KERN_DEFAULT "CPU: %d PID: %d Comm: %s\n", smp_processor_id(), current->pid, current->comm);
	printk(KERN_DEFAULT "Call Trace:\n %pS\n", __builtin_return_address(0));
}

/* Numbers, strings and characters; enough for lines that a user writes into a /proc file. */
int vsscanf(const char *buf, const char *fmt, va_list args)
{
	int done = 0;

	for (; *fmt; fmt++) {
		bool skip = false;
		int size = 4, width = 0;
		char *end;

		if (isspace(*fmt)) {
			buf = skip_spaces(buf);
			continue;
		}
		if (*fmt != '%' || *++fmt == '%') {
			if (*buf++ != *fmt)
				return done;
			continue;
		}
		if (*fmt == '*') {
			skip = true;
			fmt++;
		}
		while (*fmt >= '0' && *fmt <= '9')
			width = width * 10 + *fmt++ - '0';
		for (; *fmt == 'h' || *fmt == 'l' || *fmt == 'z' || *fmt == 'L'; fmt++)
			size = *fmt == 'h' ? size / 2 : 8;
		if (*fmt == 'c') {
			if (!*buf)
				return done;
			if (!skip)
				*va_arg(args, char *) = *buf;
			buf++;
		} else if (*fmt == 's') {
			char *to = skip ? NULL : va_arg(args, char *);

			buf = skip_spaces(buf);
			if (!*buf)
				return done;
			for (width = width ?: INT_MAX; *buf && !isspace(*buf) && width; width--, buf++)
				if (to)
					*to++ = *buf;
			if (to)
				*to = '\0';
		} else {
			unsigned int base = *fmt == 'x' || *fmt == 'X' ? 16 :
					    *fmt == 'o' ? 8 : *fmt == 'i' ? 0 : 10;
			u64 value;

			char text[128];
			const char *field = buf = skip_spaces(buf);

			if (width) {
				strscpy(text, buf, min((size_t)width + 1, sizeof(text)));
				field = text;
			}
			value = (u64)simple_strtoll(field, &end, base);
			/* What a field of two leaves of 0x1 is a zero, as in user space. */
			if (base % 16 == 0 && width == 2 && !strcmp(field, "0x"))
				end++;
			/* A minus alone is no number. */
			if (end == field + (*field == '-'))
				return done;
			buf += end - field;
			if (!skip && size == 8)
				*va_arg(args, u64 *) = value;
			else if (!skip && size == 4)
				*va_arg(args, u32 *) = (u32)value;
			else if (!skip && size == 2)
				*va_arg(args, u16 *) = (u16)value;
			else if (!skip)
				*va_arg(args, u8 *) = (u8)value;
		}
		done += !skip;
	}
	return done;
}

int sscanf(const char *buf, const char *fmt, ...) { return WITH_ARGS(fmt, vsscanf(buf, fmt, args)); }

int sprint_symbol(char *buffer, unsigned long address) { return sprintf(buffer, "%pS", (void *)address); }
int sprint_symbol_no_offset(char *buffer, unsigned long address) { return sprintf(buffer, "%ps", (void *)address); }
