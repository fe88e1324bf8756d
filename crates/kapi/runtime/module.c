// SPDX-License-Identifier: MIT OR Apache-2.0
// The module's own record, CPUs and nodes, dates.
#include "host.h"
#include <linux/kernel.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/rbtree.h>
#include <linux/slab.h>
#include <linux/timex.h>
#include <linux/utsname.h>

char kapi_module_name[MODULE_NAME_LEN];
struct module __this_module = { .state = MODULE_STATE_COMING };

/* The module's parameters: the linker gives the section's bounds when there is one. */
extern struct kernel_param __start___param[] __attribute__((__weak__));
extern struct kernel_param __stop___param[] __attribute__((__weak__));
struct kernel_param *kapi_params_start = __start___param;
struct kernel_param *kapi_params_stop = __stop___param;

/* Where it was last taken. */
static unsigned long used_at;

int kapi_users(void) { return atomic_read(&__this_module.refcnt); }

/* A kernel unloads nothing that is in use. */
void kapi_tell_users(void)
{
	int users = kapi_users();
	char text[64];

	if (users > 0)
		kapi_misuse(KAPI_LEFT, text,
			    (size_t)scnprintf(text, sizeof(text), "the module is still in use by %d", users), used_at);
}

bool try_module_get(struct module *module)
{
	if (module) {
		atomic_inc(&module->refcnt);
		used_at = kapi_module_site();
	}
	return true;
}

void module_put(struct module *module)
{
	if (module)
		WARN_ON(atomic_dec_return(&module->refcnt) < 0);
}

struct uts_namespace init_uts_ns = { .name = {
	.sysname = "Linux", .nodename = "slablab", .release = UTS_RELEASE,
	.version = "#1 SMP", .machine = "x86_64", .domainname = "(none)" } };

#define PARAM_OPS(type, ctype, via, format) \
	int param_set_##type(const char *value, const struct kernel_param *param) \
	{ \
		return via(value, 0, (ctype *)param->arg); \
	} \
	int param_get_##type(char *buffer, const struct kernel_param *param) \
	{ \
		return scnprintf(buffer, PAGE_SIZE, format "\n", *(ctype *)param->arg); \
	} \
	const struct kernel_param_ops param_ops_##type = { \
		.set = param_set_##type, .get = param_get_##type }
PARAM_OPS(int, int, kstrtoint, "%d");
PARAM_OPS(uint, unsigned int, kstrtouint, "%u");

extern void kapi_sched_start(void);
extern void kapi_percpu_start(void);
extern void kapi_cmdline_start(void);

void kapi_runtime_start(void)
{
	strscpy(__this_module.name, kapi_module_name, sizeof(__this_module.name));
	INIT_LIST_HEAD(&__this_module.list);
	kapi_sched_start();
	kapi_percpu_start();
	kapi_cmdline_start();
}

int numa_node_id(void) { return 0; }
int cpu_to_node(int cpu) { return 0; }

/* Each CPU's turn is the caller's, under that CPU's number. */
int smp_call_function_single(int cpu, smp_call_func_t func, void *info, int wait)
{
	int here = smp_processor_id();

	kapi_task_set(current, cpu);
	kapi_atomic_enter();
	func(info);
	kapi_atomic_exit();
	kapi_task_set(current, here);
	return 0;
}

int on_each_cpu(smp_call_func_t func, void *info, int wait)
{
	unsigned int cpu;

	for_each_online_cpu(cpu)
		smp_call_function_single((int)cpu, func, info, wait);
	return 0;
}

static bool is_leap(long year) { return (year % 4 == 0 && year % 100 != 0) || year % 400 == 0; }

void time64_to_tm(time64_t seconds, int offset, struct tm *result)
{
	/* Days to a date of the proleptic Gregorian calendar, in eras of 400 years from March 0000. */
	s64 total = seconds + offset, days = total / 86400, rest = total % 86400;
	s64 era, doe, yoe, doy, mp;

	if (rest < 0) {
		rest += 86400;
		days--;
	}
	result->tm_hour = (int)(rest / 3600);
	result->tm_min = (int)(rest / 60 % 60);
	result->tm_sec = (int)(rest % 60);
	result->tm_wday = (int)(((days + 4) % 7 + 7) % 7);
	days += 719468;
	era = (days >= 0 ? days : days - 146096) / 146097;
	doe = days - era * 146097;
	yoe = (doe - doe / 1460 + doe / 36524 - doe / 146096) / 365;
	doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
	mp = (5 * doy + 2) / 153;
	result->tm_mday = (int)(doy - (153 * mp + 2) / 5 + 1);
	result->tm_mon = (int)(mp < 10 ? mp + 2 : mp - 10);
	result->tm_year = (long)(yoe + era * 400 + (result->tm_mon < 2) - 1900);
	/* The day of a year that begins with March, and January's and February's after it. */
	result->tm_yday = (int)(doy < 306 ? doy + 59 + is_leap(result->tm_year + 1900) : doy - 306);
}

time64_t mktime64(unsigned int year, unsigned int mon, unsigned int day, unsigned int hour, unsigned int min,
		  unsigned int sec)
{
	/* Years that begin with March, so that a leap day is the last one. */
	s64 years = (s64)year - (mon < 3), month = (mon + 9) % 12;
	s64 days = years * 365 + years / 4 - years / 100 + years / 400 + (153 * month + 2) / 5 + day - 1 - 719468;

	return ((days * 24 + hour) * 60 + min) * 60 + sec;
}
