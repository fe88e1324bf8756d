// SPDX-License-Identifier: GPL-2.0-only
/*
 * slabtorture: finds out whether a slab allocator hands out memory twice
 *
 * How it works
 *
 * A table of slots, each empty or with one object, is shared by threads bound
 * to every CPU and by a hard interrupt (hrtimer), a tasklet and a timer on
 * every CPU. All do the same step over and over: claim a random slot; fill it
 * with an object of random kind and size, or take the object out and free it.
 * So objects are freed by other CPUs and in other contexts than they came from.
 *
 * An object is stamped over its whole length with a token of its own when it
 * is allocated, and the stamp is checked before it is freed. Memory that was
 * handed out twice, written by the allocator while in use, or moved wrongly
 * bears a stamp that is not the owner's.
 *
 * Besides stamps it checks alignment, zeroing, constructed state, ksize(), the
 * contents after krealloc(), and that the memory of an object freed to a
 * SLAB_TYPESAFE_BY_RCU cache stays one of that cache until the grace period is
 * over: before the threads start, slabs of such a cache are emptied within a
 * read section that then takes pages. Threads also use bulk calls and
 * kfree_rcu(), and allocate with interrupts off, which must be off still
 * afterwards.
 *
 * The module runs in its init: insmod returns after "seconds", with an error
 * if anything was found. The last line is "slabtorture: result ok errors=0".
 */

#include <linux/atomic.h>
#include <linux/cpu.h>
#include <linux/delay.h>
#include <linux/hrtimer.h>
#include <linux/interrupt.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/percpu.h>
#include <linux/prandom.h>
#include <linux/random.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/timer.h>
#include <linux/version.h>
#include <linux/vmalloc.h>

#include "objects.h"

#define pr_torture(fmt, ...) pr_info("slabtorture: " fmt, ##__VA_ARGS__)

static unsigned int seconds = 10;
module_param(seconds, uint, 0444);
MODULE_PARM_DESC(seconds, "how long to run");
static unsigned int threads = 2;
module_param(threads, uint, 0444);
MODULE_PARM_DESC(threads, "threads on each CPU");
static unsigned int slots = 4096;
module_param(slots, uint, 0444);
MODULE_PARM_DESC(slots, "objects in use at most");
static unsigned int irq_us = 5000;
module_param(irq_us, uint, 0444);
MODULE_PARM_DESC(irq_us, "microseconds between interrupts on each CPU");
static unsigned int seed = 1;
module_param(seed, uint, 0444);
MODULE_PARM_DESC(seed, "of the random choices");

#define BULK_MAX	24
/* Objects of a few dozen slabs, and more pages than those have */
#define PAGES_OBJECTS	1024
#define PAGES_NR	256

/* The interrupts of one CPU */
struct engine {
	struct hrtimer hrtimer;
	struct tasklet_struct tasklet;
	struct timer_list timer;
	struct tally tally[CONTEXTS];
};

struct worker {
	struct task_struct *task;
	struct tally tally[CONTEXTS];
};

static struct slot *table;
static struct worker *workers;
static DEFINE_PER_CPU(struct engine, engines);
static bool stopping;

/* One change to one slot, in whatever context. */
static void step(struct tally *tally, enum context context)
{
	gfp_t gfp = context == THREAD ? GFP_KERNEL : GFP_ATOMIC;
	u32 r = prandom_u32_state(&tally->random);
	struct slot *slot = &table[r % slots];

	if (atomic_cmpxchg(&slot->claimed, 0, 1))
		return;
	if (!slot->object)
		fill(slot, tally, gfp | __GFP_NOWARN);
	else if (!slot->cache && (r >> 24) % 8 == 0)
		resize(slot, tally, gfp | __GFP_NOWARN);
	else
		drain(slot, tally, context);
	tally->steps++;
	/* What an allocator holds a lock for, it must leave as it was. */
	if ((context == IRQS_OFF || context == HARDIRQ) && !irqs_disabled()) {
		complain("irqs", slot->object, 0, 0);
		local_irq_disable();
	}
	atomic_set_release(&slot->claimed, 0);
}

/*
 * Threads
 */

/* Many objects at once: all stamped, then all checked, then all freed. */
static void bulk(struct tally *tally)
{
	struct rnd_state *random = &tally->random;
	u32 r = prandom_u32_state(random);
	unsigned int i, nr = 1 + r % BULK_MAX;
	struct slot own[BULK_MAX];
	void *p[BULK_MAX];
	struct cache *cache = NULL;

	if (r & 0x10000)
		cache = &caches[(r >> 20) % ARRAY_SIZE(caches)];
	if (cache) {
		if (!kmem_cache_alloc_bulk(cache->kmem, GFP_KERNEL, nr, p))
			return;
	} else {
		for (i = 0; i < nr; i++) {
			p[i] = kmalloc(random_size(random), GFP_KERNEL);
			if (!p[i])
				break;
		}
		nr = i;
	}

	for (i = 0; i < nr; i++) {
		own[i].object = p[i];
		own[i].cache = cache;
		own[i].bytes = cache ? cache->size : ksize(p[i]);
		own[i].token = MAGIC * atomic64_inc_return(&serial);
		if (cache && cache->ctor)
			check_new(&own[i], GFP_KERNEL, cache->size);
		if (cache && cache->tagged)
			*(u64 *)p[i] = tag_of(cache);
		stamp(&own[i]);
	}
	for (i = 0; i < nr; i++) {
		if (!stamped(&own[i], own[i].bytes))
			return; /* leaks, which is safer than a double free */
		if (cache && cache->ctor)
			torture_ctor(p[i], cache->size);
	}
	if (cache)
		kmem_cache_free_bulk(cache->kmem, nr, p);
	else
		kfree_bulk(nr, p);
	tally->bulk += nr;
}

static int work(void *data)
{
	struct worker *worker = data;

	while (!kthread_should_stop()) {
		unsigned int i;

		for (i = 0; i < 64; i++)
			step(&worker->tally[THREAD], THREAD);
		bulk(&worker->tally[THREAD]);
		local_irq_disable();
		for (i = 0; i < 4; i++)
			step(&worker->tally[IRQS_OFF], IRQS_OFF);
		local_irq_enable();
		cond_resched();
	}
	return 0;
}

/*
 * Interrupts
 */

static enum hrtimer_restart hardirq(struct hrtimer *hrtimer)
{
	struct engine *engine = container_of(hrtimer, struct engine, hrtimer);

	step(&engine->tally[HARDIRQ], HARDIRQ);
	if (READ_ONCE(stopping))
		return HRTIMER_NORESTART;
	tasklet_schedule(&engine->tasklet);
	hrtimer_forward_now(hrtimer, ns_to_ktime(irq_us * NSEC_PER_USEC));
	return HRTIMER_RESTART;
}

static void softirq(struct tasklet_struct *tasklet)
{
	struct engine *engine = from_tasklet(engine, tasklet, tasklet);

	step(&engine->tally[TASKLET], TASKLET);
	step(&engine->tally[TASKLET], TASKLET);
}

static void tick(struct timer_list *timer)
{
	struct engine *engine = container_of(timer, struct engine, timer);
	unsigned int i;

	for (i = 0; i < 8; i++)
		step(&engine->tally[TIMER], TIMER);
	if (!READ_ONCE(stopping))
		mod_timer(timer, jiffies + 1);
}

/* Runs on the CPU whose engine it starts. */
static void engine_start(void *unused)
{
	struct engine *engine = this_cpu_ptr(&engines);

	hrtimer_start(&engine->hrtimer, ns_to_ktime(irq_us * NSEC_PER_USEC),
		      HRTIMER_MODE_REL_PINNED);
	engine->timer.expires = jiffies + 1;
	add_timer_on(&engine->timer, smp_processor_id());
}

static void seed_tallies(struct tally *tally, u64 salt)
{
	enum context context;

	for (context = 0; context < CONTEXTS; context++)
		prandom_seed_state(&tally[context].random,
				   (seed + salt * CONTEXTS + context) * MAGIC);
}

static void engines_start(void)
{
	unsigned int cpu;

	for_each_online_cpu(cpu) {
		struct engine *engine = per_cpu_ptr(&engines, cpu);

#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 15, 0)
		hrtimer_setup(&engine->hrtimer, hardirq, CLOCK_MONOTONIC,
			      HRTIMER_MODE_REL_PINNED);
#else
		hrtimer_init(&engine->hrtimer, CLOCK_MONOTONIC,
			     HRTIMER_MODE_REL_PINNED);
		engine->hrtimer.function = hardirq;
#endif
		tasklet_setup(&engine->tasklet, softirq);
		timer_setup(&engine->timer, tick, TIMER_PINNED);
		seed_tallies(engine->tally, 1000 + cpu);
	}
	on_each_cpu(engine_start, NULL, 1);
}

static void engines_stop(void)
{
	unsigned int cpu;

	WRITE_ONCE(stopping, true);
	for_each_online_cpu(cpu) {
		struct engine *engine = per_cpu_ptr(&engines, cpu);

		hrtimer_cancel(&engine->hrtimer);
		tasklet_kill(&engine->tasklet);
		/* The timer rearms itself until it sees stopping. */
		while (timer_delete_sync(&engine->timer))
			;
	}
}

/*
 * Pages
 */

/*
 * Empties slabs of a tagged cache within a read section and takes pages there: no
 * page of the slabs may be among them. Nobody else uses the cache meanwhile.
 */
static void check_typesafe_pages(struct cache *cache)
{
	void **objects = kcalloc(PAGES_OBJECTS, sizeof(*objects), GFP_KERNEL);
	struct page *page, *next;
	LIST_HEAD(pages);
	unsigned int i;

	if (!objects)
		return;
	for (i = 0; i < PAGES_OBJECTS; i++) {
		objects[i] = kmem_cache_alloc(cache->kmem, GFP_KERNEL);
		if (objects[i])
			*(u64 *)objects[i] = tag_of(cache);
	}
	/* On one CPU, which hands the pages out first that it freed last. */
	preempt_disable();
	rcu_read_lock();
	for (i = 0; i < PAGES_OBJECTS; i++)
		if (objects[i])
			kmem_cache_free(cache->kmem, objects[i]);
	for (i = 0; i < PAGES_NR; i++) {
		page = alloc_page(GFP_NOWAIT | __GFP_NOWARN);
		if (!page)
			break;
		memset(page_address(page), 0xff, PAGE_SIZE);
		list_add(&page->lru, &pages);
	}
	for (i = 0; i < PAGES_OBJECTS; i++)
		if (objects[i] && *(u64 *)objects[i] != tag_of(cache))
			complain("typesafe", objects[i], cache->size, 0);
	rcu_read_unlock();
	preempt_enable();
	list_for_each_entry_safe(page, next, &pages, lru)
		__free_page(page);
	kfree(objects);
}

/*
 * Start and end
 */

static void caches_destroy(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(caches); i++) {
		kmem_cache_destroy(caches[i].kmem);
		caches[i].kmem = NULL;
	}
}

static int caches_create(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(caches); i++) {
		struct cache *c = &caches[i];

		c->kmem = kmem_cache_create(c->name, c->size, c->align,
					    c->flags, ctor_of(c));
		if (!c->kmem) {
			caches_destroy();
			return -ENOMEM;
		}
	}
	return 0;
}

static int workers_run(void)
{
	unsigned int cpu, i, nr = 0;
	int ret = 0;

	for_each_online_cpu(cpu) {
		for (i = 0; i < threads; i++, nr++) {
			struct worker *worker = &workers[nr];

			seed_tallies(worker->tally, nr);
			worker->task = kthread_create_on_cpu(work, worker, cpu,
							     "slabtorture/%u");
			if (IS_ERR(worker->task)) {
				ret = PTR_ERR(worker->task);
				goto stop;
			}
			wake_up_process(worker->task);
		}
	}
	engines_start();
	for (i = 0; i < seconds * 10 && !atomic_read(&errors); i++)
		msleep(100);
	engines_stop();
stop:
	while (nr--)
		kthread_stop(workers[nr].task);
	return ret;
}

static void tally_add(struct tally *sum, const struct tally *one)
{
	sum->steps += one->steps;
	sum->allocs += one->allocs;
	sum->frees += one->frees;
	sum->remote_frees += one->remote_frees;
	sum->failed += one->failed;
	sum->bulk += one->bulk;
	sum->reallocs += one->reallocs;
	sum->rcu += one->rcu;
}

static void report(unsigned int nr_workers)
{
	enum context context;
	unsigned int cpu, i;

	for (context = 0; context < CONTEXTS; context++) {
		struct tally sum = { };

		for (i = 0; i < nr_workers; i++)
			tally_add(&sum, &workers[i].tally[context]);
		for_each_online_cpu(cpu)
			tally_add(&sum, &per_cpu(engines, cpu).tally[context]);
		pr_torture("context=%s steps=%lu allocs=%lu frees=%lu remote_frees=%lu reallocs=%lu rcu=%lu bulk=%lu failed=%lu\n",
			   context_names[context], sum.steps, sum.allocs,
			   sum.frees, sum.remote_frees, sum.reallocs, sum.rcu,
			   sum.bulk, sum.failed);
	}
}

static int __init slabtorture_init(void)
{
	unsigned int i, nr_workers;
	struct tally last = { };
	int ret;

	if (!slots || !irq_us)
		return -EINVAL;
	/* CPUs must neither come nor go meanwhile. */
	nr_workers = num_online_cpus() * threads;
	table = vzalloc(array_size(slots, sizeof(*table)));
	workers = vzalloc(array_size(nr_workers, sizeof(*workers)));
	ret = table && workers ? caches_create() : -ENOMEM;
	if (ret)
		goto out;

	pr_torture("cpus=%u threads=%u slots=%u seconds=%u irq_us=%u seed=%u\n",
		   num_online_cpus(), nr_workers, slots, seconds, irq_us, seed);
	for (i = 0; i < ARRAY_SIZE(caches); i++)
		if (caches[i].tagged)
			check_typesafe_pages(&caches[i]);
	ret = workers_run();
	prandom_seed_state(&last.random, seed);
	for (i = 0; i < slots; i++)
		if (table[i].object)
			drain(&table[i], &last, IRQS_OFF);
	report(nr_workers);
	rcu_barrier();
	/* With errors objects were leaked on purpose, so caches must stay. */
	if (!atomic_read(&errors))
		caches_destroy();
	pr_torture("result %s errors=%d\n",
		   atomic_read(&errors) ? "FAIL" : "ok", atomic_read(&errors));
	if (atomic_read(&errors))
		ret = -EIO;
out:
	vfree(workers);
	vfree(table);
	return ret;
}

static void __exit slabtorture_exit(void)
{
}

module_init(slabtorture_init);
module_exit(slabtorture_exit);
MODULE_DESCRIPTION("Finds out whether a slab allocator hands out memory twice");
MODULE_LICENSE("GPL");
