// SPDX-License-Identifier: MIT OR Apache-2.0
// The module's own record, per-CPU memory, pools, CPUs and nodes, dates.
#include "host.h"
#include <linux/kernel.h>
#include <linux/mempool.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/percpu.h>
#include <linux/rbtree.h>
#include <linux/slab.h>
#include <linux/timex.h>
#include <linux/utsname.h>

#define PERCPU_DYNAMIC_BYTES (64 << 10)
#define GRANULE 16

char kapi_module_name[MODULE_NAME_LEN];
struct module __this_module = { .state = MODULE_STATE_COMING };

/* The module's parameters: the linker gives the section's bounds when there is one. */
extern struct kernel_param __start___param[] __attribute__((__weak__));
extern struct kernel_param __stop___param[] __attribute__((__weak__));
struct kernel_param *kapi_params_start = __start___param;
struct kernel_param *kapi_params_stop = __stop___param;

bool try_module_get(struct module *module)
{
	if (module)
		atomic_inc(&module->refcnt);
	return true;
}

void module_put(struct module *module)
{
	if (module)
		WARN_ON(atomic_dec_return(&module->refcnt) < 0);
}

struct new_utsname *utsname(void)
{
	static struct new_utsname name = {
		.sysname = "Linux", .nodename = "slablab", .release = UTS_RELEASE,
		.version = "#1 SMP", .machine = "x86_64", .domainname = "(none)" };

	return &name;
}

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

extern char __start_kapi_percpu[] __attribute__((__weak__));
extern char __stop_kapi_percpu[] __attribute__((__weak__));
unsigned long kapi_percpu_delta, kapi_percpu_unit;
static unsigned long dynamic_begin;
static u16 granules[PERCPU_DYNAMIC_BYTES / GRANULE];
static DEFINE_SPINLOCK(percpu_lock);

static void percpu_start(void)
{
	unsigned long begin = (unsigned long)__start_kapi_percpu;
	unsigned long bytes = (unsigned long)__stop_kapi_percpu - begin;
	char *copies;
	unsigned int cpu;

	/* Not 0 in a module without such variables: that is no address. */
	dynamic_begin = ALIGN(begin + bytes + 1, 64);
	kapi_percpu_unit = ALIGN(dynamic_begin - begin + PERCPU_DYNAMIC_BYTES, 4096);
	cpumask_setall(&kapi_all_cpus);
	copies = kapi_alloc(kapi_percpu_unit * nr_cpu_ids);
	if (!copies)
		panic("no memory for the per-CPU areas");
	kapi_percpu_delta = (unsigned long)copies - begin;
	for (cpu = 0; cpu < nr_cpu_ids; cpu++)
		memcpy(copies + cpu * kapi_percpu_unit, (void *)begin, bytes);
}

/* First fit over granules; the first of a block holds its length. */
void *__alloc_percpu(size_t size, size_t align)
{
	size_t need = DIV_ROUND_UP(size ?: 1, GRANULE), at = 0, run = 0, i;
	unsigned long flags;
	unsigned int cpu;
	void *p = NULL;

	align = max_t(size_t, DIV_ROUND_UP(align, GRANULE), 1);
	spin_lock_irqsave(&percpu_lock, flags);
	while (at < ARRAY_SIZE(granules) && run < need) {
		if (granules[at]) {
			at += granules[at];
			run = 0;
		} else if (!run && at % align) {
			at++;
		} else {
			at++;
			run++;
		}
	}
	if (run >= need) {
		at -= run;
		granules[at] = (u16)need;
		p = (void *)(dynamic_begin + at * GRANULE);
	}
	spin_unlock_irqrestore(&percpu_lock, flags);
	for (cpu = 0; p && cpu < nr_cpu_ids; cpu++)
		for (i = 0; i < need; i++)
			memset((char *)per_cpu_ptr(p, cpu) + i * GRANULE, 0, GRANULE);
	return p;
}

void free_percpu(void *p)
{
	unsigned long flags;

	if (!p)
		return;
	spin_lock_irqsave(&percpu_lock, flags);
	granules[((unsigned long)p - dynamic_begin) / GRANULE] = 0;
	spin_unlock_irqrestore(&percpu_lock, flags);
}

extern void kapi_sched_start(void);

void kapi_runtime_start(void)
{
	strscpy(__this_module.name, kapi_module_name, sizeof(__this_module.name));
	INIT_LIST_HEAD(&__this_module.list);
	kapi_sched_start();
	percpu_start();
}

void *mempool_alloc_slab(gfp_t gfp, void *data) { return kmem_cache_alloc(data, gfp); }
void mempool_free_slab(void *element, void *data) { kmem_cache_free(data, element); }
void *mempool_kmalloc(gfp_t gfp, void *data) { return kmalloc((size_t)data, gfp); }
void mempool_kfree(void *element, void *data) { kfree(element); }
void *mempool_alloc_pages(gfp_t gfp, void *data) { return alloc_pages(gfp, (unsigned int)(unsigned long)data); }
void mempool_free_pages(void *element, void *data) { __free_pages(element, (unsigned int)(unsigned long)data); }

mempool_t *mempool_create(int min_nr, mempool_alloc_t *alloc, mempool_free_t *free, void *data)
{
	mempool_t *pool = kzalloc(sizeof(*pool) + (size_t)min_nr * sizeof(void *), GFP_KERNEL);

	if (!pool)
		return NULL;
	spin_lock_init(&pool->lock);
	pool->elements = (void **)(pool + 1);
	pool->min_nr = min_nr;
	pool->pool_data = data;
	pool->alloc = alloc;
	pool->free = free;
	while (pool->curr_nr < min_nr) {
		void *element = alloc(GFP_KERNEL, data);

		if (!element) {
			mempool_destroy(pool);
			return NULL;
		}
		pool->elements[pool->curr_nr++] = element;
	}
	return pool;
}

void mempool_destroy(mempool_t *pool)
{
	if (!pool)
		return;
	while (pool->curr_nr)
		pool->free(pool->elements[--pool->curr_nr], pool->pool_data);
	kfree(pool);
}

void *mempool_alloc(mempool_t *pool, gfp_t gfp)
{
	for (;;) {
		void *element = pool->alloc(gfp | __GFP_NOWARN, pool->pool_data);
		unsigned long flags;

		spin_lock_irqsave(&pool->lock, flags);
		if (!element && pool->curr_nr)
			element = pool->elements[--pool->curr_nr];
		spin_unlock_irqrestore(&pool->lock, flags);
		if (element || !gfpflags_allow_blocking(gfp))
			return element;
		io_schedule_timeout(1);
	}
}

void mempool_free(void *element, mempool_t *pool)
{
	unsigned long flags;

	if (!element)
		return;
	spin_lock_irqsave(&pool->lock, flags);
	if (pool->curr_nr < pool->min_nr) {
		pool->elements[pool->curr_nr++] = element;
		element = NULL;
	}
	spin_unlock_irqrestore(&pool->lock, flags);
	if (element)
		pool->free(element, pool->pool_data);
}

unsigned long alloc_pages_bulk_array(gfp_t gfp, unsigned long nr, struct page **pages)
{
	unsigned long at;

	for (at = 0; at < nr; at++)
		if (!pages[at] && !(pages[at] = alloc_page(gfp)))
			break;
	return at;
}

void si_meminfo(struct sysinfo *info)
{
	memset(info, 0, sizeof(*info));
	info->totalram = totalram_pages;
	info->freeram = nr_free_pages();
	info->mem_unit = PAGE_SIZE;
	info->procs = 1;
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
	result->tm_yday = (int)(doy < 306 ? doy + 59 : doy - 306);
}
