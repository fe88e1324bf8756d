// SPDX-License-Identifier: MIT OR Apache-2.0
// Trackers of references, with the places where they were taken and given back.
#include "host.h"
#include <linux/bug.h>
#include <linux/kernel.h>
#include <linux/list.h>
#include <linux/printk.h>
#include <linux/ref_tracker.h>
#include <linux/slab.h>
#include <linux/string.h>

struct ref_tracker {
	struct list_head head;
	bool dead;
	unsigned long taken_at, given_at;
};

void kapi_ref_tracker_dir_init(struct ref_tracker_dir *dir, unsigned int quarantine_count, const char *name)
{
	INIT_LIST_HEAD(&dir->list);
	INIT_LIST_HEAD(&dir->quarantine);
	spin_lock_init(&dir->lock);
	dir->quarantine_avail = quarantine_count;
	dir->dead = false;
	refcount_set(&dir->untracked, 1);
	refcount_set(&dir->no_tracker, 1);
	strscpy(dir->name, name, sizeof(dir->name));
}

/* One line for each place, with how many of all stand there; @put takes it. */
static void each_place(struct ref_tracker_dir *dir, unsigned int limit,
		       void (*put)(void *to, const struct ref_tracker_dir *dir, unsigned int count, unsigned int total,
				   unsigned long place),
		       void *to)
{
	struct ref_tracker *tracker, *other;
	unsigned int total = 0;

	list_for_each_entry(tracker, &dir->list, head)
		total++;
	list_for_each_entry(tracker, &dir->list, head) {
		unsigned int count = 0;
		bool first = true;

		list_for_each_entry(other, &dir->list, head) {
			if (other == tracker)
				first = count == 0;
			count += other->taken_at == tracker->taken_at;
		}
		if (first && limit) {
			put(to, dir, count, total, tracker->taken_at);
			limit--;
		}
	}
}

static void to_log(void *to, const struct ref_tracker_dir *dir, unsigned int count, unsigned int total, unsigned long place)
{
	pr_err("ref_tracker: %s@%p has %u/%u users at\n     %pS\n", dir->name, dir, count, total, (void *)place);
}

void ref_tracker_dir_print_locked(struct ref_tracker_dir *dir, unsigned int display_limit)
{
	each_place(dir, display_limit, to_log, NULL);
}

void ref_tracker_dir_print(struct ref_tracker_dir *dir, unsigned int display_limit)
{
	unsigned long flags;

	spin_lock_irqsave(&dir->lock, flags);
	ref_tracker_dir_print_locked(dir, display_limit);
	spin_unlock_irqrestore(&dir->lock, flags);
}

/* Text that is being written. */
struct text {
	char *buf;
	size_t size;
	int len;
};

static void to_text(void *to, const struct ref_tracker_dir *dir, unsigned int count, unsigned int total, unsigned long place)
{
	struct text *text = to;

	text->len += scnprintf(text->buf + text->len, text->size - (size_t)text->len,
			       "ref_tracker: %s@%p has %u/%u users at\n     %pS\n", dir->name, dir, count, total,
			       (void *)place);
}

int ref_tracker_dir_snprint(struct ref_tracker_dir *dir, char *buf, size_t size)
{
	struct text text = { .buf = buf, .size = size };
	unsigned long flags;

	spin_lock_irqsave(&dir->lock, flags);
	each_place(dir, UINT_MAX, to_text, &text);
	spin_unlock_irqrestore(&dir->lock, flags);
	return text.len;
}

static void free_all(struct list_head *list)
{
	struct ref_tracker *tracker, *next;

	list_for_each_entry_safe(tracker, next, list, head) {
		list_del(&tracker->head);
		kfree(tracker);
	}
}

void ref_tracker_dir_exit(struct ref_tracker_dir *dir)
{
	bool leak = !list_empty(&dir->list);

	dir->dead = true;
	free_all(&dir->quarantine);
	ref_tracker_dir_print(dir, 16);
	free_all(&dir->list);
	WARN_ON_ONCE(leak);
	WARN_ON_ONCE(refcount_read(&dir->untracked) != 1);
	WARN_ON_ONCE(refcount_read(&dir->no_tracker) != 1);
}

int ref_tracker_alloc(struct ref_tracker_dir *dir, struct ref_tracker **trackerp, gfp_t gfp)
{
	unsigned long site = kapi_module_site(), flags;
	struct ref_tracker *tracker;

	WARN_ON_ONCE(dir->dead);
	if (!trackerp) {
		refcount_inc(&dir->no_tracker);
		return 0;
	}
	*trackerp = tracker = kapi_kmalloc_for(sizeof(*tracker), gfp | __GFP_ZERO, site);
	if (!tracker) {
		refcount_inc(&dir->untracked);
		return -ENOMEM;
	}
	tracker->taken_at = site;
	spin_lock_irqsave(&dir->lock, flags);
	list_add(&tracker->head, &dir->list);
	spin_unlock_irqrestore(&dir->lock, flags);
	return 0;
}

int ref_tracker_free(struct ref_tracker_dir *dir, struct ref_tracker **trackerp)
{
	struct ref_tracker *tracker, *oldest = NULL;
	unsigned long flags;

	WARN_ON_ONCE(dir->dead);
	if (!trackerp) {
		refcount_dec(&dir->no_tracker);
		return 0;
	}
	tracker = *trackerp;
	if (!tracker) {
		refcount_dec(&dir->untracked);
		return -EEXIST;
	}
	spin_lock_irqsave(&dir->lock, flags);
	if (tracker->dead) {
		spin_unlock_irqrestore(&dir->lock, flags);
		pr_err("reference already released.\nallocated in:\n     %pS\nfreed in:\n     %pS\n",
		       (void *)tracker->taken_at, (void *)tracker->given_at);
		WARN_ON_ONCE(1);
		return -EINVAL;
	}
	tracker->dead = true;
	tracker->given_at = kapi_module_site();
	list_move_tail(&tracker->head, &dir->quarantine);
	if (dir->quarantine_avail) {
		dir->quarantine_avail--;
	} else {
		oldest = list_first_entry(&dir->quarantine, struct ref_tracker, head);
		list_del(&oldest->head);
	}
	spin_unlock_irqrestore(&dir->lock, flags);
	kfree(oldest);
	return 0;
}
