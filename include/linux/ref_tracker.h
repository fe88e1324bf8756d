/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Who holds references: each has a tracker that knows where it was taken, and whether it was given back. Trackers that were
 * given back stay for a while, so that one which is given back twice is told with both places.
 *
 * Linux counterpart: include/linux/ref_tracker.h @ 6.12. Difference: a place is a line of the module, not a stack.
 */
#ifndef _LINUX_REF_TRACKER_H
#define _LINUX_REF_TRACKER_H

#include <linux/refcount.h>
#include <linux/spinlock.h>
#include <linux/types.h>
#include <linux/version.h>

struct ref_tracker;

struct ref_tracker_dir {
	spinlock_t lock;
	unsigned int quarantine_avail;
	refcount_t untracked;
	refcount_t no_tracker;
	bool dead;
	struct list_head list;
	struct list_head quarantine;
	char name[32];
};

extern void kapi_ref_tracker_dir_init(struct ref_tracker_dir *dir, unsigned int quarantine_count, const char *name);
/* The name came with 6.5. */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 5, 0)
#define ref_tracker_dir_init(dir, quarantine_count, name) kapi_ref_tracker_dir_init(dir, quarantine_count, name)
#else
#define ref_tracker_dir_init(dir, quarantine_count) kapi_ref_tracker_dir_init(dir, quarantine_count, "")
#endif
extern void ref_tracker_dir_exit(struct ref_tracker_dir *dir);
extern void ref_tracker_dir_print_locked(struct ref_tracker_dir *dir, unsigned int display_limit);
extern void ref_tracker_dir_print(struct ref_tracker_dir *dir, unsigned int display_limit);
extern int ref_tracker_dir_snprint(struct ref_tracker_dir *dir, char *buf, size_t size);
extern int ref_tracker_alloc(struct ref_tracker_dir *dir, struct ref_tracker **tracker, gfp_t gfp);
extern int ref_tracker_free(struct ref_tracker_dir *dir, struct ref_tracker **tracker);

#endif
