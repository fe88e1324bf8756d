// SPDX-License-Identifier: GPL-2.0-only
/*
 * slabcensus: where do the free objects of SLUB's caches lie?
 *
 * /proc/slabcensus has a line for each cache that has slabs, with the slabs or
 * sheaves of each kind of place and the free objects in them. It is what
 * `slablab info --census` reads without a lock, counted while nothing else runs.
 *
 * How it works: stop_machine() lets the other CPUs wait with interrupts off.
 * SLUB moves objects with preemption off, or under a lock that turns it off, so
 * each list is whole then and no lock is taken. All caches are on one list; a
 * cache of our own leads to it. What is on it and is not an object of a slab is
 * its head.
 *
 * Invariants: it allocates nothing between the first cache and the last. Who
 * reads again from the same open file takes no object for that, either.
 *
 * A task that creates a cache may be stopped between the two stores that put it
 * on the list; such a cache is missing in that count.
 *
 * The structures are those of mm/slub.c @ 6.12 and 7.3, up to the last field
 * that is read.
 */
#include <linux/cpumask.h>
#include <linux/errno.h>
#include <linux/init.h>
#include <linux/kernel.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/proc_fs.h>
#include <linux/seq_file.h>
#include <linux/stop_machine.h>
#include <linux/string.h>
#include <linux/version.h>
#include <linux/vmalloc.h>

#include "slab.h"

#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 18, 0) && LINUX_VERSION_CODE < KERNEL_VERSION(7, 1, 0)
#error "slabcensus knows the structures of 6.12 to 6.17 and of 7.1 and later"
#endif
#define HAS_SHEAVES (LINUX_VERSION_CODE >= KERNEL_VERSION(7, 1, 0))

#define CACHES_MAX	1024
#define NAME_BYTES	64
/* More than the text, and too large for a slab: the reader's buffer is not counted. */
#define TEXT_MAX	(512 << 10)

enum place {
	CPU_SLABS, CPU_PARTIAL, MAIN_SHEAVES, SPARE_SHEAVES, RCU_SHEAVES, BARNS,
	NODE_PARTIAL, NODE_EMPTY, PLACES
};

static const char *const place_names[PLACES] = {
	"cpu_slabs", "cpu_partial", "main_sheaves", "spare_sheaves", "rcu_sheaves",
	"barns", "node_partial", "node_empty",
};

struct lying {
	unsigned long places, objects;
};

static struct counted {
	char name[NAME_BYTES];
	unsigned int size;
	unsigned long slabs, objects, empty_sheaves;
	struct lying lying[PLACES];
} *counted;
static unsigned int nr_counted;
static DEFINE_MUTEX(counting);

/* It has no objects, and is on the list of all caches. */
static struct kmem_cache *own;

struct kmem_cache_node {
	spinlock_t list_lock;
	unsigned long nr_partial;
	struct list_head partial;
	atomic_long_t nr_slabs;
	atomic_long_t total_objects;
};

static void add(struct counted *of, enum place place, unsigned long objects)
{
	of->lying[place].places++;
	of->lying[place].objects += objects;
}

#if HAS_SHEAVES
struct slab_sheaf {
	union {
		struct rcu_head rcu_head;
		struct list_head barn_list;
		struct llist_node llnode;
	};
	struct kmem_cache *cache;
	unsigned int size;
};

struct slub_percpu_sheaves {
	local_trylock_t lock;
	struct slab_sheaf *main;
	struct slab_sheaf *spare;
	struct slab_sheaf *rcu_free;
};

struct node_barn {
	spinlock_t lock;
	struct list_head sheaves_full;
	struct list_head sheaves_empty;
};

static struct kmem_cache_node *node_of(struct kmem_cache *cache, int node)
{
	return cache->per_node[node].node;
}

static void count_cpu(struct counted *of, struct kmem_cache *cache, int cpu)
{
	struct slub_percpu_sheaves *sheaves = per_cpu_ptr(cache->cpu_sheaves, cpu);

	if (sheaves->main)
		add(of, MAIN_SHEAVES, sheaves->main->size);
	if (sheaves->spare)
		add(of, SPARE_SHEAVES, sheaves->spare->size);
	if (sheaves->rcu_free)
		add(of, RCU_SHEAVES, sheaves->rcu_free->size);
}

static void count_barn(struct counted *of, struct kmem_cache *cache, int node)
{
	struct node_barn *barn = cache->per_node[node].barn;
	struct slab_sheaf *sheaf;

	if (!barn)
		return;
	list_for_each_entry(sheaf, &barn->sheaves_full, barn_list)
		add(of, BARNS, sheaf->size);
	of->empty_sheaves += list_count_nodes(&barn->sheaves_empty);
}
#else
struct kmem_cache_cpu {
	union {
		struct {
			void **freelist;
			unsigned long tid;
		};
		freelist_aba_t freelist_tid;
	};
	struct slab *slab;
#ifdef CONFIG_SLUB_CPU_PARTIAL
	struct slab *partial;
#endif
};

static struct kmem_cache_node *node_of(struct kmem_cache *cache, int node)
{
	return cache->node[node];
}

/* Returns the free object behind a free object. */
static void *next_free(struct kmem_cache *cache, void *object)
{
	unsigned long *at = object + cache->offset, next = *at;

#ifdef CONFIG_SLAB_FREELIST_HARDENED
	next ^= cache->random ^ swab((unsigned long)at);
#endif
	return (void *)next;
}

static void count_cpu(struct counted *of, struct kmem_cache *cache, int cpu)
{
	struct kmem_cache_cpu *of_cpu = per_cpu_ptr(cache->cpu_slab, cpu);
	struct slab *slab = of_cpu->slab;

	/* What others freed lies on the slab's own list; the rest is the CPU's. */
	if (slab) {
		unsigned long objects = slab->objects - slab->inuse;
		void *object;

		for (object = of_cpu->freelist; object; object = next_free(cache, object))
			objects++;
		add(of, CPU_SLABS, objects);
	}
#ifdef CONFIG_SLUB_CPU_PARTIAL
	for (slab = of_cpu->partial; slab; slab = slab->next)
		add(of, CPU_PARTIAL, slab->objects - slab->inuse);
#endif
}

static void count_barn(struct counted *of, struct kmem_cache *cache, int node)
{
}
#endif

static void count_node(struct counted *of, struct kmem_cache_node *node)
{
	struct slab *slab;

	of->slabs += atomic_long_read(&node->nr_slabs);
	of->objects += atomic_long_read(&node->total_objects);
	list_for_each_entry(slab, &node->partial, slab_list)
		add(of, slab->inuse ? NODE_PARTIAL : NODE_EMPTY, slab->objects - slab->inuse);
}

static void count_cache(struct counted *of, struct kmem_cache *cache)
{
	int node, cpu;

	memset(of, 0, sizeof(*of));
	strscpy(of->name, cache->name, sizeof(of->name));
	of->size = cache->size;
	for (node = 0; node < nr_node_ids; node++) {
		if (!node_of(cache, node))
			continue;
		count_node(of, node_of(cache, node));
		count_barn(of, cache, node);
	}
	for_each_possible_cpu(cpu)
		count_cpu(of, cache, cpu);
}

/* Counts all caches; the other CPUs wait. */
static int count(void *unused)
{
	struct list_head *link;

	nr_counted = 0;
	for (link = own->list.next; link != &own->list; link = link->next) {
		if (!virt_addr_valid(link) || !virt_to_slab(link))
			continue;
		if (nr_counted == CACHES_MAX)
			return -ENOSPC;
		count_cache(&counted[nr_counted++], list_entry(link, struct kmem_cache, list));
	}
	return 0;
}

static int show(struct seq_file *file, void *unused)
{
	unsigned int i, place;
	int err;

	mutex_lock(&counting);
	err = stop_machine(count, NULL, NULL);
	if (err)
		goto out;
	seq_puts(file, "object_bytes slabs objects empty_sheaves");
	for (place = 0; place < PLACES; place++)
		seq_printf(file, " %s.places %s.objects", place_names[place], place_names[place]);
	seq_puts(file, " cache\n");
	for (i = 0; i < nr_counted; i++) {
		const struct counted *of = &counted[i];

		if (!of->slabs)
			continue;
		seq_printf(file, "%u %lu %lu %lu", of->size, of->slabs, of->objects, of->empty_sheaves);
		for (place = 0; place < PLACES; place++)
			seq_printf(file, " %lu %lu", of->lying[place].places, of->lying[place].objects);
		seq_printf(file, " %s\n", of->name);
	}
out:
	mutex_unlock(&counting);
	return err;
}

static int open_census(struct inode *inode, struct file *file)
{
	return single_open_size(file, show, NULL, TEXT_MAX);
}

static const struct proc_ops census_ops = {
	.proc_open = open_census,
	.proc_read = seq_read,
	.proc_lseek = seq_lseek,
	.proc_release = single_release,
};

/* A cache with a constructor is never merged with another one. */
static void slabcensus_ctor(void *object)
{
}

static int __init slabcensus_init(void)
{
	counted = vcalloc(CACHES_MAX, sizeof(*counted));
	own = kmem_cache_create("slabcensus", sizeof(long), 0, 0, slabcensus_ctor);
	if (counted && own && proc_create("slabcensus", 0400, NULL, &census_ops))
		return 0;
	kmem_cache_destroy(own);
	vfree(counted);
	return -ENOMEM;
}

static void __exit slabcensus_exit(void)
{
	remove_proc_entry("slabcensus", NULL);
	kmem_cache_destroy(own);
	vfree(counted);
}

module_init(slabcensus_init);
module_exit(slabcensus_exit);
MODULE_DESCRIPTION("Where the free objects of SLUB's caches lie");
MODULE_LICENSE("GPL");
