// SPDX-License-Identifier: GPL-2.0-only
/*
 * slabinfo: what SLUB_TINY, SLAB and SLUB without sysfs do not tell of their caches
 *
 * /proc/slabinfo is that of SLUB_TINY, which has none. /proc/slabcaches has
 * what /sys/kernel/slab would have: a cache a line, with its attributes; who
 * writes to it shrinks all of them, now and, of SLUB, before each reading of
 * /proc/slabinfo from then on: to open and to read it takes objects of
 * names_cache and kmalloc's, whose slabs a CPU keeps and SLUB counts as full.
 *
 * How it works: every page is looked at; one that is a slab's first says which
 * cache it is of and how many of its objects are in use. The text is that of
 * version 2.1. SLUB_TINY keeps nothing for a CPU, so the objects are exact.
 * Those of SLAB are when its caches were shrunk.
 *
 * Invariants: it allocates nothing while it counts, so that it counts what was
 * there before. A page may stop being a slab under its eyes: what it says of
 * its cache is believed if it is a slab still after that. From the first
 * shrinking on a cache is named even without slabs, and none may be destroyed.
 */

#include <linux/mm.h>
#include <linux/module.h>
#include <linux/proc_fs.h>
#include <linux/seq_file.h>
#include <linux/version.h>

#include "slab.h"

#define CACHES_MAX 512
/* More than the text, and too large for a slab: the reader's buffer is not counted. */
#define TEXT_MAX (64 << 10)

static struct counted {
	struct kmem_cache *cache;
	unsigned long slabs, inuse, objects;
	unsigned int each, order;
} counted[CACHES_MAX];
static unsigned int nr_counted;
/* Whether somebody had all caches shrunk. */
static bool exact;
static DEFINE_MUTEX(counting);

/* Returns the slab that begins with a page, or NULL. */
static struct slab *slab_at(struct page *page)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 19, 0)
	return compound_head(page) == page ? page_slab(page) : NULL;
#else
	struct folio *folio = page_folio(page);

	return folio_page(folio, 0) == page && folio_test_slab(folio) ? folio_slab(folio) : NULL;
#endif
}

static struct counted *counted_of(struct kmem_cache *cache)
{
	unsigned int i;

	for (i = 0; i < nr_counted; i++)
		if (counted[i].cache == cache)
			return &counted[i];
	if (nr_counted == CACHES_MAX)
		return NULL;
	counted[nr_counted] = (struct counted) { .cache = cache };
	return &counted[nr_counted++];
}

static void count_page(struct page *page)
{
	struct slab *slab = slab_at(page);
	struct kmem_cache *cache;
	struct counted *of;

	if (!slab)
		return;
	cache = READ_ONCE(slab->slab_cache);
	smp_rmb();
	if (!cache || !slab_at(page))
		return;
	of = counted_of(cache);
	if (!of)
		return;
	of->slabs++;
#ifdef CONFIG_SLAB
	of->each = cache->num;
#else
	of->inuse += slab->inuse;
	of->objects += slab->objects;
	of->each = max_t(unsigned int, of->each, slab->objects);
#endif
	of->order = max_t(unsigned int, of->order, compound_order(page));
}

/* Counts all slabs; caches that were known when they were shrunk stay known. */
static void count(void)
{
	unsigned long end = PHYS_PFN(__pa(high_memory - 1)) + 1, pfn;
	unsigned int i;

	if (!exact)
		nr_counted = 0;
	for (i = 0; i < nr_counted; i++)
		counted[i].slabs = counted[i].inuse = counted[i].objects = 0;
	for (pfn = 0; pfn < end; pfn++) {
		if (pfn_valid(pfn))
			count_page(pfn_to_page(pfn));
		if (!(pfn % 4096))
			cond_resched();
	}
}

static void shrink_counted(void)
{
	unsigned int i;

	for (i = 0; i < nr_counted; i++)
		kmem_cache_shrink(counted[i].cache);
}

#ifndef CONFIG_SLAB
static int show(struct seq_file *file, void *unused)
{
	unsigned int i;

	mutex_lock(&counting);
	count();
	if (exact) {
		shrink_counted();
		count();
	}
	seq_puts(file, "slabinfo - version: 2.1\n# name            <active_objs> <num_objs> <objsize> <objperslab> "
		       "<pagesperslab> : tunables <limit> <batchcount> <sharedfactor> : slabdata <active_slabs> "
		       "<num_slabs> <sharedavail>\n");
	for (i = 0; i < nr_counted; i++) {
		const struct counted *of = &counted[i];

		seq_printf(file, "%-17s %6lu %6lu %6u %4u %4u : tunables    0    0    0 : slabdata %6lu %6lu      0\n",
			   of->cache->name, of->inuse, of->objects, of->cache->size, of->each, 1U << of->order,
			   of->slabs, of->slabs);
	}
	mutex_unlock(&counting);
	return 0;
}
#endif

static int show_caches(struct seq_file *file, void *unused)
{
	unsigned int i;

	mutex_lock(&counting);
	count();
	for (i = 0; i < nr_counted; i++) {
		const struct counted *of = &counted[i];
		const struct kmem_cache *cache = of->cache;

		seq_printf(file, "%s align=%u cache_dma=%u destroy_by_rcu=%u hwcache_align=%u object_size=%u "
			   "objs_per_slab=%u order=%u reclaim_account=%u slab_size=%u",
			   cache->name, cache->align, !!(cache->flags & SLAB_CACHE_DMA),
			   !!(cache->flags & SLAB_TYPESAFE_BY_RCU), !!(cache->flags & SLAB_HWCACHE_ALIGN),
			   cache->object_size, of->each, of->order,
			   !!(cache->flags & SLAB_RECLAIM_ACCOUNT), cache->size);
#ifndef CONFIG_SLAB
		seq_printf(file, " min_partial=%lu", cache->min_partial);
#endif
#if defined(CONFIG_SLUB_CPU_PARTIAL)
		seq_printf(file, " cpu_partial=%u", cache->cpu_partial);
#elif !defined(CONFIG_SLAB) && !defined(CONFIG_SLUB_TINY) && LINUX_VERSION_CODE < KERNEL_VERSION(7, 0, 0)
		/* As the file of sysfs says it, which a kernel with one CPU may lack. */
		seq_puts(file, " cpu_partial=0");
#endif
		if (cache->ctor)
			seq_printf(file, " ctor=%pS", cache->ctor);
		seq_putc(file, '\n');
	}
	mutex_unlock(&counting);
	return 0;
}

static int open_caches(struct inode *inode, struct file *file)
{
	return single_open_size(file, show_caches, NULL, TEXT_MAX);
}

#ifndef CONFIG_SLAB
static int open_slabinfo(struct inode *inode, struct file *file)
{
	return single_open_size(file, show, NULL, TEXT_MAX);
}

static const struct proc_ops slabinfo_ops = {
	.proc_open = open_slabinfo,
	.proc_read = seq_read,
	.proc_lseek = seq_lseek,
	.proc_release = single_release,
};
#endif

static ssize_t shrink_caches(struct file *file, const char __user *text, size_t length, loff_t *at)
{
	mutex_lock(&counting);
	count();
	shrink_counted();
	exact = true;
	mutex_unlock(&counting);
	return length;
}

static const struct proc_ops caches_ops = {
	.proc_open = open_caches,
	.proc_read = seq_read,
	.proc_write = shrink_caches,
	.proc_lseek = seq_lseek,
	.proc_release = single_release,
};

static int __init slabinfo_init(void)
{
	if (!proc_create("slabcaches", 0600, NULL, &caches_ops))
		return -ENOMEM;
#ifndef CONFIG_SLAB
	/* Refused, with a warning, where the kernel has it. */
	if (!proc_create("slabinfo", 0400, NULL, &slabinfo_ops)) {
		remove_proc_entry("slabcaches", NULL);
		return -EEXIST;
	}
#endif
	return 0;
}

static void __exit slabinfo_exit(void)
{
#ifndef CONFIG_SLAB
	remove_proc_entry("slabinfo", NULL);
#endif
	remove_proc_entry("slabcaches", NULL);
}

module_init(slabinfo_init);
module_exit(slabinfo_exit);
MODULE_DESCRIPTION("What SLUB_TINY and SLAB do not tell of their caches");
MODULE_LICENSE("GPL");
