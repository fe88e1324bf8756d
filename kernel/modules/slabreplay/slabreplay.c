// SPDX-License-Identifier: GPL-2.0-only
/*
 * slabreplay: allocates and frees what a trace says, in this kernel
 *
 * How it works
 *
 * The trace (trace.h) is read and checked as a whole when the module is loaded,
 * and the trace's caches are made, each for itself. /proc/slabreplay then takes
 * commands, and a write returns when its command is done:
 *
 *   N       replay up to event N in the trace's order, each event on its CPU
 *   parts N the same up to the end, in N equal parts, and after each of them
 *           count what the trace's objects hold
 *   free    replay the rest on all CPUs at once: the order is kept on each CPU
 *           and for each object
 *   settle  wait until what RCU holds back was given back
 *
 * Between two commands nothing happens, so that /proc/slabinfo shows the
 * trace's caches (rp_0, rp_1, ..., in the trace's order) at that moment.
 * Reading /proc/slabreplay gives "event=N failed=N ns=N": where the replay
 * stands, allocations that failed, and the time spent in replaying; and, after
 * "parts", for each part "moment EVENT" with lines "rp_0 SLABS BYTES", or
 * "pages BYTES" where caches share pages.
 *
 * That count is exact where no slab without a live object is kept: SLUB_TINY,
 * SLOB and SLMB, which are those without /proc/slabinfo. SLUB_DENSE keeps some,
 * so all pages are looked at there. SLOB and SLMB put the
 * trace's objects beside the kernel's own; so before the first event all room
 * in pages that are there is taken ("plug"), and the trace gets new pages.
 *
 * In the trace's order one thread runs at a time. It replays events until one
 * belongs to another CPU, and wakes that CPU's thread.
 *
 * Invariants
 *
 * Only a thread of this module changes an object's slot, and while one command
 * runs, the next one waits for the lock. Whatever ends the module gives back
 * every object that is live, by walking the trace again.
 */

#include <linux/bitmap.h>
#include <linux/completion.h>
#include <linux/cpu.h>
#include <linux/delay.h>
#include <linux/kernel_read_file.h>
#include <linux/kprobes.h>
#include <linux/kthread.h>
#include <linux/ktime.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/proc_fs.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include <linux/uaccess.h>
#include <linux/version.h>
#include <linux/vmalloc.h>
#include <linux/workqueue.h>

#include "trace.h"

#define NAME "slabreplay"

/* Where caches share pages, and have no classes of kmalloc(). */
#if defined(CONFIG_SLOB) || defined(CONFIG_SLMB)
#define CACHES_SHARE_PAGES 1
#else
#define CACHES_SHARE_PAGES 0
#endif

static char *trace = "/trace.rp";
module_param(trace, charp, 0444);
MODULE_PARM_DESC(trace, "the compact trace");
static bool touch;
module_param(touch, bool, 0444);
MODULE_PARM_DESC(touch, "write the first cache line of each object");

/* What a slot holds after an allocation that failed, until its free. */
#define FAILED ((void *)1)

static void *file;
static const struct trace_header *header;
static const struct trace_cache *traced;
static const struct trace_event *events;
static unsigned int nr_cpus, nr_caches, nr_objects, nr_events;

static struct kmem_cache **caches;
static void **slots;
static struct task_struct **threads;

/* The command that runs: one at a time. */
static DEFINE_MUTEX(commands);
static DECLARE_COMPLETION(done);
static bool stop;
/* Events before this one are done, in the trace's order; the CPU whose turn it is; where to stop. */
static unsigned int next_event, turn, until;
static atomic_t running = ATOMIC_INIT(0);
static atomic_t failed = ATOMIC_INIT(0);
static u64 spent_ns;

static bool is_alloc(const struct trace_event *event)
{
	return le16_to_cpu(event->cache) & EVENT_ALLOC;
}

static unsigned int cache_of(const struct trace_event *event)
{
	return le16_to_cpu(event->cache) & ~EVENT_ALLOC;
}

static unsigned int cpu_of(unsigned int event)
{
	return le16_to_cpu(events[event].cpu);
}

static void give_back(const struct trace_event *event, void *object)
{
	struct kmem_cache *cache = caches[cache_of(event)];

	if (object == FAILED)
		return;
	if (cache)
		kmem_cache_free(cache, object);
	else
		kfree(object);
}

static void allocate(const struct trace_event *event)
{
	struct kmem_cache *cache = caches[cache_of(event)];
	unsigned int bytes = le32_to_cpu(event->bytes);
	gfp_t gfp = GFP_KERNEL | __GFP_NOWARN | __GFP_NORETRY;
	void *object = cache ? kmem_cache_alloc(cache, gfp) : kmalloc(bytes, gfp);

	if (!object) {
		atomic_inc(&failed);
		object = FAILED;
	} else if (touch) {
		memset(object, 0x5a, min(bytes, 64U));
	}
	/* Pairs with the load of whoever frees it, maybe on another CPU. */
	smp_store_release(&slots[le32_to_cpu(event->object)], object);
}

#include "reaping.h"
#include "visits.h"

/* Replays one event. Its object is there: in the trace's order always, else after a wait. */
static void perform(const struct trace_event *event)
{
	void **slot = &slots[le32_to_cpu(event->object)];
	unsigned int spins = 0;
	void *object;

	if (is_visits(event)) {
		visit(le32_to_cpu(event->bytes));
		return;
	}
	if (is_alloc(event)) {
		allocate(event);
		return;
	}
	while (!(object = smp_load_acquire(slot))) {
		if (READ_ONCE(stop))
			return;
		/* With more virtual CPUs than processors, who spins keeps the one it waits for from running. */
		if (++spins % 256)
			cpu_relax();
		else
			usleep_range(20, 100);
	}
	WRITE_ONCE(*slot, NULL);
	give_back(event, object);
}

/* Replays events of this CPU as long as they come one after the other; returns the CPU of the next one. */
static unsigned int perform_run(unsigned int cpu)
{
	while (next_event < until && !READ_ONCE(stop) && cpu_of(next_event) == cpu) {
		perform(&events[next_event]);
		if (!(++next_event % 256))
			cond_resched();
	}
	return next_event < until && !READ_ONCE(stop) ? cpu_of(next_event) : nr_cpus;
}

/* Replays all that is left of this CPU. */
static void perform_rest(unsigned int cpu)
{
	unsigned int i;

	for (i = next_event; i < nr_events && !READ_ONCE(stop); i++)
		if (cpu_of(i) == cpu) {
			perform(&events[i]);
			cond_resched();
		}
}

static int replay_thread(void *data)
{
	unsigned int cpu = (unsigned long)data, next;

	for (;;) {
		set_current_state(TASK_INTERRUPTIBLE);
		if (kthread_should_stop())
			break;
		if (smp_load_acquire(&turn) != cpu) {
			schedule();
			continue;
		}
		__set_current_state(TASK_RUNNING);
		next = perform_run(cpu);
		smp_store_release(&turn, next);
		if (next == nr_cpus)
			complete(&done);
		else
			wake_up_process(threads[next]);
	}
	__set_current_state(TASK_RUNNING);
	return 0;
}

static int free_thread(void *data)
{
	perform_rest((unsigned long)data);
	if (atomic_dec_and_test(&running))
		complete(&done);
	/* Whoever started it stops it: a thread that has ended could not be stopped. */
	set_current_state(TASK_INTERRUPTIBLE);
	while (!kthread_should_stop()) {
		schedule();
		set_current_state(TASK_INTERRUPTIBLE);
	}
	__set_current_state(TASK_RUNNING);
	return 0;
}

/* Waits for the command's end; a fatal signal ends it early, between two events. */
static int wait_until_done(void)
{
	if (!wait_for_completion_killable(&done))
		return READ_ONCE(stop) ? -EINTR : 0;
	WRITE_ONCE(stop, true);
	wait_for_completion(&done);
	WRITE_ONCE(stop, false);
	return -EINTR;
}

static int replay_ordered(unsigned int end)
{
	if (end < next_event || end > nr_events)
		return -EINVAL;
	if (end == next_event)
		return 0;
	until = end;
	reinit_completion(&done);
	smp_store_release(&turn, cpu_of(next_event));
	wake_up_process(threads[cpu_of(next_event)]);
	return wait_until_done();
}

static struct task_struct *make_thread(int (*run)(void *), unsigned int cpu)
{
	struct task_struct *task = kthread_create(run, (void *)(unsigned long)cpu, NAME "/%u", cpu);

	if (!IS_ERR(task))
		kthread_bind(task, cpu);
	return task;
}

static int replay_free(void)
{
	struct task_struct **own = kcalloc(nr_cpus, sizeof(*own), GFP_KERNEL);
	unsigned int cpu;
	int error = 0;

	if (!own)
		return -ENOMEM;
	for (cpu = 0; cpu < nr_cpus && !error; cpu++) {
		own[cpu] = make_thread(free_thread, cpu);
		if (IS_ERR(own[cpu])) {
			error = PTR_ERR(own[cpu]);
			own[cpu] = NULL;
		}
	}
	if (!error) {
		reinit_completion(&done);
		atomic_set(&running, nr_cpus);
		for (cpu = 0; cpu < nr_cpus; cpu++)
			wake_up_process(own[cpu]);
		error = wait_until_done();
		/* Not in the trace's order any more: there is no going on from here. */
		next_event = nr_events;
	}
	for (cpu = 0; cpu < nr_cpus; cpu++)
		if (own[cpu])
			kthread_stop(own[cpu]);
	kfree(own);
	return error;
}

#include "plug.h"
#include "parts.h"

static int obey(const char *text)
{
	u64 begin = ktime_get_ns();
	unsigned int number;
	int error;

	if (!strcmp(text, "settle")) {
		settle();
		return 0;
	}
	if (!strcmp(text, "free"))
		error = replay_free();
	else if (!strncmp(text, "parts ", 6))
		error = kstrtouint(text + 6, 0, &number) ?: replay_parts(number);
	else
		error = kstrtouint(text, 0, &number) ?: replay_ordered(number);
	spent_ns += ktime_get_ns() - begin;
	return error;
}

static ssize_t command(struct file *unused, const char __user *from, size_t count, loff_t *pos)
{
	char text[16];
	int error;

	if (count >= sizeof(text))
		return -EINVAL;
	if (copy_from_user(text, from, count))
		return -EFAULT;
	text[count] = '\0';
	error = mutex_lock_killable(&commands);
	if (error)
		return error;
	error = READ_ONCE(stop) ? -EINTR : obey(strim(text));
	mutex_unlock(&commands);
	return error ? error : (ssize_t)count;
}

static ssize_t status(struct file *unused, char __user *to, size_t count, loff_t *pos)
{
	char text[80];
	int len = scnprintf(text, sizeof(text), "event=%u failed=%d ns=%llu\n", READ_ONCE(next_event),
			    atomic_read(&failed), READ_ONCE(spent_ns));
	loff_t rest = *pos - len;
	ssize_t copied;

	if (*pos < len)
		return simple_read_from_buffer(to, count, pos, text, len);
	if (mutex_lock_killable(&commands))
		return -EINTR;
	copied = simple_read_from_buffer(to, count, &rest, told, told_len);
	mutex_unlock(&commands);
	*pos = rest + len;
	return copied;
}

static const struct proc_ops control = { .proc_write = command, .proc_read = status };

static void construct(void *object)
{
}

static int check_header(size_t size)
{
	u64 expected;

	if (size < sizeof(*header) || memcmp(header->magic, TRACE_MAGIC, sizeof(header->magic))) {
		pr_err(NAME ": %s: not a compact trace\n", trace);
		return -EINVAL;
	}
	nr_cpus = le32_to_cpu(header->cpus);
	nr_caches = le32_to_cpu(header->caches);
	nr_objects = le32_to_cpu(header->objects);
	nr_events = le32_to_cpu(header->events);
	expected = sizeof(*header) + (u64)nr_caches * sizeof(*traced) + (u64)nr_events * sizeof(*events);
	if (size != expected) {
		pr_err(NAME ": %s: has %zu bytes, and its header says %llu\n", trace, size, expected);
		return -EINVAL;
	}
	if (!nr_cpus || nr_cpus > num_online_cpus() || nr_caches >= EVENT_VISITS || nr_objects > nr_events) {
		pr_err(NAME ": %s: %u CPUs, %u caches, %u objects and %u events cannot be replayed on %u CPUs\n",
		       trace, nr_cpus, nr_caches, nr_objects, nr_events, num_online_cpus());
		return -EINVAL;
	}
	traced = (const void *)(header + 1);
	events = (const void *)(traced + nr_caches);
	return 0;
}

/* Each object is allocated once, and freed at most once after that, from the same cache. */
static int check_events(void)
{
	u16 *cache = vzalloc(array_size(max(nr_objects, 1U), sizeof(*cache)));
	unsigned int i;
	int error = 0;

	if (!cache)
		return -ENOMEM;
	for (i = 0; i < nr_events && !error; i++) {
		const struct trace_event *event = &events[i];
		unsigned int object = le32_to_cpu(event->object);

		if (is_visits(event) && !is_alloc(event) && cpu_of(i) < nr_cpus)
			continue;
		if (object >= nr_objects || cache_of(event) >= nr_caches || cpu_of(i) >= nr_cpus)
			error = -EINVAL;
		else if (cache[object] != (is_alloc(event) ? 0 : cache_of(event) + 1))
			error = -EINVAL;
		else
			cache[object] = is_alloc(event) ? cache_of(event) + 1 : U16_MAX;
		if (!(i % 4096))
			cond_resched();
	}
	if (error)
		pr_err(NAME ": %s: event %u cannot be\n", trace, i - 1);
	vfree(cache);
	return error;
}

static bool has_own_cache(const struct trace_cache *cache)
{
	u32 flags = le32_to_cpu(cache->flags);

	if (CACHES_SHARE_PAGES && flags & CACHE_KMALLOC)
		return false;
	return !(flags & CACHE_LARGE);
}

static struct kmem_cache *make_cache(unsigned int i)
{
	u32 flags = le32_to_cpu(traced[i].flags), size = le32_to_cpu(traced[i].size);
	slab_flags_t slab_flags = 0;
	char name[16];

	if (flags & CACHE_HWCACHE_ALIGN)
		slab_flags |= SLAB_HWCACHE_ALIGN;
	if (flags & CACHE_RECLAIM_ACCOUNT)
		slab_flags |= SLAB_RECLAIM_ACCOUNT;
	/*
	 * SLOB and SLMB free such an object when a grace period has passed, by the clock again. So it is freed at once,
	 * and has the room for what defers it.
	 */
	if (CACHES_SHARE_PAGES && flags & CACHE_TYPESAFE_BY_RCU)
		size += sizeof(struct rcu_head) + sizeof(long);
	else if (flags & CACHE_TYPESAFE_BY_RCU)
		slab_flags |= SLAB_TYPESAFE_BY_RCU;
#ifdef SLAB_NO_MERGE
	slab_flags |= SLAB_NO_MERGE;
#endif
	snprintf(name, sizeof(name), "rp_%u", i);
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 18, 0)
	if (CACHE_SHEAF(flags)) {
		struct kmem_cache_args args = {
			.align = le32_to_cpu(traced[i].align),
			.ctor = flags & CACHE_CTOR ? construct : NULL,
			.sheaf_capacity = CACHE_SHEAF(flags),
		};

		return kmem_cache_create(name, size, &args, slab_flags);
	}
#endif
	return kmem_cache_create(name, size, le32_to_cpu(traced[i].align), slab_flags,
				 flags & CACHE_CTOR ? construct : NULL);
}

/* A kernel that merges would put two of the same size into one. */
static bool are_merged(unsigned int i)
{
	unsigned int j;

	for (j = 0; j < i; j++)
		if (caches[j] == caches[i])
			return true;
	return false;
}

static int make_caches(void)
{
	unsigned int i;

	for (i = 0; i < nr_caches; i++) {
		if (!has_own_cache(&traced[i]))
			continue;
		caches[i] = make_cache(i);
		if (!caches[i]) {
			pr_err(NAME ": %s: cache %u of %u bytes cannot be\n", trace, i, le32_to_cpu(traced[i].size));
			return -EINVAL;
		}
		if (are_merged(i)) {
			pr_err(NAME ": this kernel merges caches; boot it with slab_nomerge\n");
			return -EINVAL;
		}
	}
	return 0;
}

static int start_threads(void)
{
	unsigned int cpu;

	turn = nr_cpus;
	for (cpu = 0; cpu < nr_cpus; cpu++) {
		struct task_struct *task = make_thread(replay_thread, cpu);

		if (IS_ERR(task))
			return PTR_ERR(task);
		threads[cpu] = task;
		wake_up_process(task);
	}
	return 0;
}

/* Gives back whatever there is: of a module that runs, or of an init that failed half-way. */
static void clean_up(void)
{
	unsigned int i;

	for (i = 0; threads && i < nr_cpus; i++)
		if (threads[i])
			kthread_stop(threads[i]);
	for (i = 0; slots && i < nr_events; i++) {
		void **slot = &slots[le32_to_cpu(events[i].object)];

		if (is_alloc(&events[i]) && *slot) {
			give_back(&events[i], *slot);
			*slot = NULL;
		}
		if (!(i % 4096))
			cond_resched();
	}
	for (i = 0; caches && i < nr_caches; i++)
		kmem_cache_destroy(caches[i]);
	unplug();
	vfree(told);
	kfree(threads);
	vfree(slots);
	vfree(caches);
	vfree(file);
}

static int load(void)
{
	ssize_t size = kernel_read_file_from_path(trace, 0, &file, INT_MAX, NULL, READING_UNKNOWN);
	int error;

	if (size < 0) {
		pr_err(NAME ": %s: cannot be read: %zd\n", trace, size);
		file = NULL;
		return size;
	}
	header = file;
	error = check_header(size) ?: check_events();
	if (error)
		return error;
	caches = vzalloc(array_size(max(nr_caches, 1U), sizeof(*caches)));
	slots = vzalloc(array_size(max(nr_objects, 1U), sizeof(*slots)));
	threads = kcalloc(nr_cpus, sizeof(*threads), GFP_KERNEL);
	if (!caches || !slots || !threads)
		return -ENOMEM;
	error = make_caches() ?: start_threads();
	if (!error)
		error = hold_clocks();
	if (!error && !proc_create(NAME, 0600, NULL, &control)) {
		release_clocks();
		error = -ENOMEM;
	}
	return error;
}

static int __init slabreplay_init(void)
{
	int error = load();

	if (error)
		clean_up();
	else
		pr_info(NAME ": events=%u objects=%u caches=%u cpus=%u\n", nr_events, nr_objects, nr_caches, nr_cpus);
	return error;
}

static void __exit slabreplay_exit(void)
{
	/* Ends a command that runs; removing the file waits for it. */
	WRITE_ONCE(stop, true);
	remove_proc_entry(NAME, NULL);
	release_clocks();
	clean_up();
}

module_init(slabreplay_init);
module_exit(slabreplay_exit);
MODULE_DESCRIPTION("Replays a trace of allocations in this kernel");
MODULE_LICENSE("GPL");
