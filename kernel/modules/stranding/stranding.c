// SPDX-License-Identifier: GPL-2.0-only
/*
 * stranding: do objects that one CPU freed serve another, before a process is
 * killed for memory?
 *
 * Fills a share of the memory with objects on one CPU, frees all but every 16th
 * there, so that hardly a page becomes free, and allocates as many again on
 * another CPU. An allocator that keeps freed objects for the CPU that freed
 * them asks for pages that are not there.
 */
#include <linux/cpumask.h>
#include <linux/errno.h>
#include <linux/gfp.h>
#include <linux/init.h>
#include <linux/kernel.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>
#include <linux/workqueue.h>

#define KEPT_EVERY	16

static unsigned int percent = 60;
module_param(percent, uint, 0444);
MODULE_PARM_DESC(percent, "share of the free memory to fill, 1 to 90");
static unsigned int size = 256;
module_param(size, uint, 0444);
MODULE_PARM_DESC(size, "bytes of an object, 16 to 4096");

static struct kmem_cache *cache;
static void **objects;
static unsigned long wanted, filled, freed, again, left_pages;

/* A cache with a constructor is never merged with another one. */
static void stranding_ctor(void *object)
{
	*(unsigned long *)object = 0;
}

static unsigned long free_pages_now(void)
{
	struct sysinfo info;

	si_meminfo(&info);
	return info.freeram;
}

/*
 * Fills empty places with objects; stops at the first that cannot be had, or
 * with @left_pages free.
 */
static unsigned long fill(void)
{
	unsigned long i, count = 0;

	for (i = 0; i < wanted; i++) {
		if (objects[i])
			continue;
		objects[i] = kmem_cache_alloc(cache, GFP_KERNEL | __GFP_NOWARN);
		if (!objects[i])
			break;
		count++;
		if (!(i % 64) && left_pages && free_pages_now() < left_pages)
			break;
		if (!(i % 4096))
			cond_resched();
	}
	return count;
}

static long on_first_cpu(void *unused)
{
	unsigned long i;

	filled = fill();
	/* What is not filled now is not meant to be later. */
	wanted = min(wanted, filled);
	left_pages = 0;
	for (i = 0; i < wanted; i++) {
		if (!(i % KEPT_EVERY) || !objects[i])
			continue;
		kmem_cache_free(cache, objects[i]);
		objects[i] = NULL;
		freed++;
		if (!(i % 4096))
			cond_resched();
	}
	return 0;
}

static long on_other_cpu(void *unused)
{
	again = fill();
	return 0;
}

static int __init stranding_init(void)
{
	unsigned int first = cpumask_first(cpu_online_mask);
	unsigned int other = cpumask_next(first, cpu_online_mask);
	unsigned long i;

	if (size < 16 || size > PAGE_SIZE || !percent || percent > 90 ||
	    other >= nr_cpu_ids) {
		pr_err("stranding: takes size=16..4096 percent=1..90 and two CPUs\n");
		return -EINVAL;
	}
	wanted = (free_pages_now() << PAGE_SHIFT) / 100 * percent /
		 (size + sizeof(void *));
	objects = vzalloc(array_size(wanted, sizeof(void *)));
	cache = kmem_cache_create("stranding", size, 0, 0, stranding_ctor);
	if (!objects || !cache) {
		kmem_cache_destroy(cache);
		vfree(objects);
		return -ENOMEM;
	}
	left_pages = free_pages_now() / 100 * (100 - percent) + 1;
	work_on_cpu(first, on_first_cpu, NULL);
	work_on_cpu(other, on_other_cpu, NULL);
	for (i = 0; i < wanted; i++)
		if (objects[i])
			kmem_cache_free(cache, objects[i]);
	kmem_cache_destroy(cache);
	vfree(objects);
	pr_info("stranding: filled=%lu freed=%lu again=%lu result=%s\n",
		filled, freed, again, again == freed ? "ok" : "bad");
	return again == freed ? 0 : -EIO;
}

static void __exit stranding_exit(void)
{
}

module_init(stranding_init);
module_exit(stranding_exit);
MODULE_DESCRIPTION("Whether objects freed by one CPU serve another");
MODULE_LICENSE("GPL");
