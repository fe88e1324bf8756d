// SPDX-License-Identifier: GPL-2.0-only
/*
 * memtim: what does an allocation of so many bytes cost?
 *
 * Times kmalloc(), __get_free_pages() and vmalloc() of "size" bytes, SAMPLES
 * times each, in cycles of the time stamp counter. The cost of reading the
 * counter, the median of as many empty samples, is taken off. The task
 * offers the CPU before each sample, so that it is seldom preempted within
 * one; the mean still shows when it was, the median does not. Each block is
 * freed before the next one is asked for; freeing is not timed.
 */
#include <asm/msr.h>
#include <linux/errno.h>
#include <linux/gfp.h>
#include <linux/init.h>
#include <linux/kernel.h>
#include <linux/math64.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#define SAMPLES	1024

enum { NOTHING, KMALLOC, PAGES, VMALLOC, INTERFACES };

static const char * const names[INTERFACES] = {
	"nothing", "kmalloc", "__get_free_pages", "vmalloc"
};

static unsigned long size = 1000;
module_param(size, ulong, 0444);
MODULE_PARM_DESC(size, "bytes to allocate");

static u64 samples[SAMPLES];

static void *get(int interface, unsigned int order)
{
	switch (interface) {
	case KMALLOC:
		return kmalloc(size, GFP_KERNEL | __GFP_NOWARN);
	case PAGES:
		return (void *)__get_free_pages(GFP_KERNEL | __GFP_NOWARN, order);
	case VMALLOC:
		return __vmalloc(size, GFP_KERNEL | __GFP_NOWARN);
	default:
		return samples;
	}
}

static void put(int interface, void *block, unsigned int order)
{
	switch (interface) {
	case KMALLOC:
		kfree(block);
		break;
	case PAGES:
		free_pages((unsigned long)block, order);
		break;
	case VMALLOC:
		vfree(block);
		break;
	}
}

/* Shell's sort: short, and quick enough for a thousand numbers. */
static void sort_samples(void)
{
	int gap, i, j;

	for (gap = SAMPLES / 2; gap; gap /= 2) {
		for (i = gap; i < SAMPLES; i++) {
			u64 one = samples[i];

			for (j = i; j >= gap && samples[j - gap] > one; j -= gap)
				samples[j] = samples[j - gap];
			samples[j] = one;
		}
	}
}

/* Fills samples[], sorted, less @overhead each. False if memory is short. */
static bool measure(int interface, unsigned int order, u64 overhead)
{
	int i;

	for (i = 0; i < SAMPLES; i++) {
		u64 begin, end;
		void *block;

		cond_resched();
		begin = rdtsc_ordered();
		block = get(interface, order);
		end = rdtsc_ordered();
		if (!block)
			return false;
		put(interface, block, order);
		samples[i] = end - begin > overhead ? end - begin - overhead : 0;
	}
	sort_samples();
	return true;
}

static u64 mean(void)
{
	u64 sum = 0;
	int i;

	for (i = 0; i < SAMPLES; i++)
		sum += samples[i];
	return div64_u64(sum, SAMPLES);
}

static int __init memtim_init(void)
{
	unsigned int order;
	u64 overhead;
	int interface;

	if (!size) {
		pr_err("memtim: size=0: must be one byte or more\n");
		return -EINVAL;
	}
	order = get_order(size);
	measure(NOTHING, order, 0);
	overhead = samples[SAMPLES / 2];
	pr_info("memtim: size=%lu samples=%d overhead=%llu\n", size, SAMPLES,
		(unsigned long long)overhead);

	for (interface = KMALLOC; interface < INTERFACES; interface++) {
		if (!measure(interface, order, overhead)) {
			pr_info("memtim: interface=%s size=%lu result=failed\n",
				names[interface], size);
			continue;
		}
		pr_info("memtim: interface=%s size=%lu cycles_mean=%llu cycles_min=%llu cycles_median=%llu cycles_p99=%llu\n",
			names[interface], size, (unsigned long long)mean(),
			(unsigned long long)samples[0],
			(unsigned long long)samples[SAMPLES / 2],
			(unsigned long long)samples[SAMPLES * 99 / 100]);
	}
	return 0;
}

static void __exit memtim_exit(void)
{
}

module_init(memtim_init);
module_exit(memtim_exit);
MODULE_DESCRIPTION("Cycles of an allocation by kmalloc, __get_free_pages and vmalloc");
MODULE_LICENSE("GPL");
