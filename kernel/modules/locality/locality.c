// SPDX-License-Identifier: GPL-2.0-only
/*
 * locality: how far apart do consecutive objects lie, and what does it cost?
 *
 * Allocates "objects" objects of 32 and of 40 bytes, with kmalloc() and from a
 * cache of their own. For each of the four it prints how many neighbours in
 * order of allocation are near, i.e. at most 64 bytes apart, and how many cache
 * lines and pages all of them touch. Then it links them into an hlist and times
 * walks over it.
 *
 * "churn" objects of "churn_size" bytes are allocated before, and a random half
 * of them freed: what is asked for next comes from the gaps in between, as on a
 * machine that has been up for a while. Before each walk "evict_kb" of other
 * memory are read, so that it starts without the list in the CPU's caches.
 */
#include <linux/errno.h>
#include <linux/gfp.h>
#include <linux/init.h>
#include <linux/kernel.h>
#include <linux/ktime.h>
#include <linux/list.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/vmalloc.h>

#define LINE	64
#define WALKS	101

static unsigned int objects = 200;
module_param(objects, uint, 0444);
MODULE_PARM_DESC(objects, "how many of each kind");
static unsigned int churn;
module_param(churn, uint, 0444);
MODULE_PARM_DESC(churn, "objects to allocate before, half of them freed");
static unsigned int churn_size = 40;
module_param(churn_size, uint, 0444);
MODULE_PARM_DESC(churn_size, "bytes of each of these");
static unsigned int evict_kb = 4096;
module_param(evict_kb, uint, 0444);
MODULE_PARM_DESC(evict_kb, "memory to read before each walk");
static bool verbose;
module_param(verbose, bool, 0444);
MODULE_PARM_DESC(verbose, "print the distance of each object to the one before");

struct node {
	struct hlist_node link;
	unsigned long value;
};

static const unsigned int sizes[] = { 32, 40 };

static void **table;		/* the objects */
static unsigned long *keys;	/* their addresses, sorted */
static void **gaps;		/* what is left of the churn */
static char *evict;
static u64 walks[WALKS];
static unsigned long checksum;

/* Caches with a constructor are never merged with others. */
static void locality_ctor(void *object)
{
	memset(object, 0, sizeof(struct node));
}

/* The same numbers in every run: xorshift. */
static unsigned int next_random(void)
{
	static unsigned int state = 2463534242U;

	state ^= state << 13;
	state ^= state >> 17;
	state ^= state << 5;
	return state;
}

static void sort_keys(void)
{
	unsigned int gap, i, j;

	for (gap = objects / 2; gap; gap /= 2) {
		for (i = gap; i < objects; i++) {
			unsigned long one = keys[i];

			for (j = i; j >= gap && keys[j - gap] > one; j -= gap)
				keys[j] = keys[j - gap];
			keys[j] = one;
		}
	}
}

static void sort_walks(void)
{
	unsigned int i, j;

	for (i = 1; i < WALKS; i++) {
		u64 one = walks[i];

		for (j = i; j && walks[j - 1] > one; j--)
			walks[j] = walks[j - 1];
		walks[j] = one;
	}
}

/* Units of @bytes that the objects touch. */
static unsigned int touched(unsigned int size, unsigned long bytes)
{
	unsigned long end = 0; /* first unit not yet counted */
	unsigned int i, count = 0;

	for (i = 0; i < objects; i++) {
		unsigned long first = keys[i] / bytes;
		unsigned long last = (keys[i] + size - 1) / bytes;

		if (first < end)
			first = end;
		if (last >= first) {
			count += last - first + 1;
			end = last + 1;
		}
	}
	return count;
}

static void describe(const char *source, unsigned int size)
{
	unsigned int i, near = 0;

	for (i = 0; i < objects; i++) {
		long delta = i ? (long)(table[i] - table[i - 1]) : 0;

		keys[i] = (unsigned long)table[i];
		near += i && delta >= -LINE && delta <= LINE;
		if (verbose && i)
			pr_info("locality: source=%s size=%u index=%u delta=%ld\n",
				source, size, i, delta);
	}
	sort_keys();
	pr_info("locality: source=%s size=%u objects=%u near=%u lines=%u pages=%u span=%lu\n",
		source, size, objects, near, touched(size, LINE),
		touched(size, PAGE_SIZE), keys[objects - 1] + size - keys[0]);
}

static void walk(const char *source, unsigned int size)
{
	struct hlist_head head = HLIST_HEAD_INIT;
	struct node *node;
	unsigned int i, j;

	for (i = objects; i--;) {
		node = table[i];
		node->value = i;
		hlist_add_head(&node->link, &head);
	}
	for (i = 0; i < WALKS; i++) {
		unsigned long sum = 0;
		u64 begin;

		cond_resched();
		for (j = 0; j < evict_kb * 1024; j += LINE)
			sum += evict[j]++;
		begin = ktime_get_ns();
		hlist_for_each_entry(node, &head, link)
			sum += node->value;
		walks[i] = ktime_get_ns() - begin;
		checksum += sum;
	}
	sort_walks();
	pr_info("locality: source=%s size=%u walks=%d walk_ns_min=%llu walk_ns_median=%llu walk_ns_max=%llu\n",
		source, size, WALKS, (unsigned long long)walks[0],
		(unsigned long long)walks[WALKS / 2],
		(unsigned long long)walks[WALKS - 1]);
}

/* One series: allocated from @cache, or with kmalloc() if that is NULL. */
static int series(struct kmem_cache *cache, unsigned int size)
{
	const char *source = cache ? "cache" : "kmalloc";
	unsigned int i, nr;
	int ret = -ENOMEM;

	for (nr = 0; nr < objects; nr++) {
		table[nr] = cache ? kmem_cache_alloc(cache, GFP_KERNEL) :
				    kmalloc(size, GFP_KERNEL);
		if (!table[nr])
			goto out;
	}
	describe(source, size);
	walk(source, size);
	ret = 0;
out:
	for (i = 0; i < nr; i++) {
		if (cache)
			kmem_cache_free(cache, table[i]);
		else
			kfree(table[i]);
	}
	return ret;
}

static int churn_up(void)
{
	unsigned int i;

	for (i = 0; i < churn; i++) {
		gaps[i] = kmalloc(churn_size, GFP_KERNEL);
		if (!gaps[i])
			return -ENOMEM;
	}
	for (i = 0; i < churn; i++) {
		if (next_random() & 0x10000) {
			kfree(gaps[i]);
			gaps[i] = NULL;
		}
	}
	return 0;
}

static int all_series(void)
{
	unsigned int i;
	int ret = 0;

	for (i = 0; i < ARRAY_SIZE(sizes) && !ret; i++)
		ret = series(NULL, sizes[i]);
	for (i = 0; i < ARRAY_SIZE(sizes) && !ret; i++) {
		struct kmem_cache *cache;

		cache = kmem_cache_create(i ? "locality-40" : "locality-32",
					  sizes[i], 8, 0, locality_ctor);
		if (!cache)
			return -ENOMEM;
		ret = series(cache, sizes[i]);
		kmem_cache_destroy(cache);
	}
	return ret;
}

static int __init locality_init(void)
{
	unsigned int i;
	int ret = -ENOMEM;

	if (objects < 2 || objects > 1000000 || churn > 10000000 ||
	    !churn_size || churn_size > 4096 || evict_kb > 1048576) {
		pr_err("locality: objects must be 2 to 1000000, churn up to 10000000, churn_size 1 to 4096, evict_kb up to 1048576\n");
		return -EINVAL;
	}
	table = vzalloc(objects * sizeof(*table));
	keys = vzalloc(objects * sizeof(*keys));
	gaps = vzalloc((churn + 1) * sizeof(*gaps));
	evict = vzalloc(evict_kb * 1024UL + 1);
	if (table && keys && gaps && evict)
		ret = churn_up();
	if (!ret)
		ret = all_series();

	for (i = 0; gaps && i < churn; i++)
		kfree(gaps[i]);
	vfree(evict);
	vfree(gaps);
	vfree(keys);
	vfree(table);
	return ret;
}

static void __exit locality_exit(void)
{
}

module_init(locality_init);
module_exit(locality_exit);
MODULE_DESCRIPTION("Distance between consecutive objects, and the cost of a list walk");
MODULE_LICENSE("GPL");
