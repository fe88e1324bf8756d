// SPDX-License-Identifier: MIT OR Apache-2.0
// Shrinkers: the list of them, and how much each is asked for.
//
// Linux counterpart: mm/shrinker.c @ 6.12, its arithmetic of priorities, seeks and deferred work.
#include "host.h"
#include <linux/gfp.h>
#include <linux/kernel.h>
#include <linux/proc_fs.h>
#include <linux/rwsem.h>
#include <linux/sched.h>
#include <linux/notifier.h>
#include <linux/oom.h>
#include <linux/shrinker.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

static LIST_HEAD(shrinkers);
/* Held for reading while shrinkers run: who takes one off waits for them. */
static DECLARE_RWSEM(list_sem);

static unsigned long clamp_deferred(long deferred) { return deferred > 0 ? (unsigned long)deferred : 0; }

/* Of what is there, a share that grows with the priority's fall; twice of it for what costs one seek. */
static unsigned long share(const struct shrinker *shrinker, unsigned long freeable, unsigned int priority)
{
	if (!shrinker->seeks)
		return freeable / 2;
	return (freeable >> priority) * 4 / (unsigned int)shrinker->seeks;
}

/* Asks one shrinker; returns how many objects it freed. */
static unsigned long shrink(struct shrinker *shrinker, gfp_t gfp, unsigned int priority)
{
	struct shrink_control sc = { .gfp_mask = gfp };
	unsigned long freeable = shrinker->count_objects(shrinker, &sc);
	unsigned long batch = shrinker->batch ? (unsigned long)shrinker->batch : SHRINK_BATCH;
	unsigned long deferred, total, left, scanned = 0, freed = 0;

	if (freeable == 0 || freeable == SHRINK_EMPTY)
		return 0;
	deferred = clamp_deferred(atomic_long_xchg(shrinker->nr_deferred, 0));
	total = min((deferred >> priority) + share(shrinker, freeable, priority), 2 * freeable);
	left = total;
	/* What is less than a batch waits for another time, unless it is all that there is. */
	while (left >= batch || left >= freeable) {
		unsigned long now = min(batch, left), result;

		sc.nr_to_scan = sc.nr_scanned = now;
		result = shrinker->scan_objects(shrinker, &sc);
		if (result == SHRINK_STOP)
			break;
		freed += result;
		left -= min(sc.nr_scanned, left);
		scanned += sc.nr_scanned;
		cond_resched();
		if (!sc.nr_scanned || !left)
			break;
	}
	/* What was due and not done, but no more than twice of what there is. */
	deferred += share(shrinker, freeable, priority);
	deferred = deferred > scanned ? deferred - scanned : 0;
	atomic_long_add((long)min(deferred, 2 * freeable), shrinker->nr_deferred);
	return freed;
}

/* Host: asks all. */
unsigned long kapi_reclaim(gfp_t gfp, unsigned int priority)
{
	struct shrinker *shrinker;
	unsigned long freed = 0;

	if (list_empty(&shrinkers) || current->flags & PF_MEMALLOC)
		return 0;
	if (current->flags & PF_MEMALLOC_NOIO)
		gfp &= ~(__GFP_IO | __GFP_FS);
	else if (current->flags & PF_MEMALLOC_NOFS)
		gfp &= ~__GFP_FS;
	down_read(&list_sem);
	current->flags |= PF_MEMALLOC;
	list_for_each_entry(shrinker, &shrinkers, list)
		freed += shrink(shrinker, gfp, priority);
	current->flags &= ~PF_MEMALLOC;
	up_read(&list_sem);
	return freed;
}

static BLOCKING_NOTIFIER_HEAD(oom_notifiers);

int register_oom_notifier(struct notifier_block *nb)
{
	int error = blocking_notifier_chain_register(&oom_notifiers, nb);

	if (!error)
		kapi_stands_by(nb, "the notifier block", (const void *)nb->notifier_call);
	return error;
}

int unregister_oom_notifier(struct notifier_block *nb)
{
	kapi_gone(nb);
	return blocking_notifier_chain_unregister(&oom_notifiers, nb);
}

/* Host: nothing was found, and the allocation is none that may fail early. Return: pages that somebody gave. */
unsigned long kapi_out_of_memory(void)
{
	unsigned long freed = 0;

	blocking_notifier_call_chain(&oom_notifiers, 0, &freed);
	return freed;
}

/* /proc/sys/vm/drop_caches: 2 asks shrinkers for all that they have, as long as they give; 1 is for pages of files,
 * of which there are none; 4 says nothing in the log. */
static ssize_t drop_write(struct file *file, const char __user *from, size_t count, loff_t *pos)
{
	unsigned int what, shift = 0;
	int error = kstrtouint_from_user(from, count, 0, &what);

	if (error || what < 1 || what > 7)
		return error ?: -EINVAL;
	while (what & 2 && kapi_reclaim(GFP_KERNEL, 0) >> shift++ > 1)
		;
	if (!(what & 4))
		pr_info("%s (%d): drop_caches: %d\n", current->comm, current->pid, what);
	return (ssize_t)count;
}

static const struct file_operations drop_fops = { .write = drop_write };

static void add(struct shrinker *shrinker)
{
	static bool known;

	down_write(&list_sem);
	list_add_tail(&shrinker->list, &shrinkers);
	kapi_stands_by(shrinker, "the shrinker", (const void *)shrinker->count_objects);
	shrinker->flags |= SHRINKER_REGISTERED;
	if (!known)
		known = kapi_proc_fops("drop_caches", 0200, kapi_proc_folder("vm", kapi_proc_folder("sys", NULL)),
				       &drop_fops, NULL);
	up_write(&list_sem);
}

static void take_off(struct shrinker *shrinker)
{
	down_write(&list_sem);
	if (shrinker->flags & SHRINKER_REGISTERED) {
		list_del(&shrinker->list);
		kapi_gone(shrinker);
		shrinker->flags &= ~SHRINKER_REGISTERED;
	}
	up_write(&list_sem);
}

static int prepare(struct shrinker *shrinker, unsigned long site)
{
	shrinker->nr_deferred = kapi_kmalloc_for(sizeof(*shrinker->nr_deferred), GFP_KERNEL | __GFP_ZERO, site);
	return shrinker->nr_deferred ? 0 : -ENOMEM;
}

struct shrinker *shrinker_alloc(unsigned int flags, const char *fmt, ...)
{
	struct shrinker *shrinker = kapi_kmalloc_for(sizeof(*shrinker), GFP_KERNEL | __GFP_ZERO, _RET_IP_);

	if (!shrinker)
		return NULL;
	shrinker->flags = flags | SHRINKER_ALLOCATED;
	shrinker->seeks = DEFAULT_SEEKS;
	if (!prepare(shrinker, _RET_IP_))
		return shrinker;
	kfree(shrinker);
	return NULL;
}

void shrinker_register(struct shrinker *shrinker)
{
	if (shrinker->flags & SHRINKER_ALLOCATED)
		add(shrinker);
	else
		pr_warn("Must use shrinker_alloc() to dynamically allocate the shrinker");
}

void shrinker_free(struct shrinker *shrinker)
{
	if (!shrinker)
		return;
	take_off(shrinker);
	kapi_kfree_for(shrinker->nr_deferred, _RET_IP_);
	kapi_kfree_for(shrinker, _RET_IP_);
}

int kapi_prealloc_shrinker(struct shrinker *shrinker) { return prepare(shrinker, _RET_IP_); }

void register_shrinker_prepared(struct shrinker *shrinker) { add(shrinker); }

int kapi_register_shrinker(struct shrinker *shrinker)
{
	int error = prepare(shrinker, _RET_IP_);

	if (!error)
		add(shrinker);
	return error;
}

void free_prealloced_shrinker(struct shrinker *shrinker)
{
	kfree(shrinker->nr_deferred);
	shrinker->nr_deferred = NULL;
}

void unregister_shrinker(struct shrinker *shrinker)
{
	if (!(shrinker->flags & SHRINKER_REGISTERED))
		return;
	take_off(shrinker);
	free_prealloced_shrinker(shrinker);
}

void synchronize_shrinkers(void)
{
	down_write(&list_sem);
	up_write(&list_sem);
}
