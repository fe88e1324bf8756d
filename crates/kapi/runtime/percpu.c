// SPDX-License-Identifier: MIT OR Apache-2.0
// Per-CPU memory: what the module names and what it asks for.
#include "host.h"
#include <linux/kernel.h>
#include <linux/percpu.h>
#include <linux/slab.h>
#include <linux/spinlock.h>

#define PERCPU_DYNAMIC_BYTES (64 << 10)
#define GRANULE 16

extern char __start_kapi_percpu[] __attribute__((__weak__));
extern char __stop_kapi_percpu[] __attribute__((__weak__));
unsigned long kapi_percpu_delta, kapi_percpu_unit;
static unsigned long dynamic_begin;
static u16 granules[PERCPU_DYNAMIC_BYTES / GRANULE];
static DEFINE_SPINLOCK(percpu_lock);

void kapi_percpu_start(void)
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
void *kapi_alloc_percpu_for(size_t size, size_t align, unsigned long site)
{
	size_t need = DIV_ROUND_UP(size ?: 1, GRANULE), at = 0, run = 0, i;
	unsigned long flags;
	unsigned int cpu;
	void *p = NULL;

	if (size > ARRAY_SIZE(granules) * GRANULE)
		return NULL;
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
	if (p)
		kapi_made(p, size, KAPI_MADE_PERCPU, site);
	return p;
}

void *__alloc_percpu(size_t size, size_t align)
{
	might_sleep();
	return kapi_alloc_percpu_for(size, align, _RET_IP_);
}

void free_percpu(void *p)
{
	unsigned long at = ((unsigned long)p - dynamic_begin) / GRANULE, flags;

	if (!p || !kapi_unmade(p, KAPI_MADE_PERCPU, _RET_IP_))
		return;
	if (WARN_ON(at >= ARRAY_SIZE(granules) || !granules[at]))
		return;
	spin_lock_irqsave(&percpu_lock, flags);
	granules[at] = 0;
	spin_unlock_irqrestore(&percpu_lock, flags);
}
