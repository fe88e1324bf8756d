/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * What a module could free if memory is short. Shrinkers are called when an allocation that may sleep finds none
 * (see reclaim.rs), and by `--write /proc/sys/vm/drop_caches=2`.
 *
 * Up to 6.6 a module has the record and registers it; since 6.7 shrinker_alloc() makes it. Both are here.
 */
#ifndef _LINUX_SHRINKER_H
#define _LINUX_SHRINKER_H

#include <linux/list.h>
#include <linux/refcount.h>
#include <linux/types.h>
#include <linux/version.h>
#include <kapi/bytes.h>

struct mem_cgroup;

struct shrink_control {
	gfp_t gfp_mask;
	int nid;
	unsigned long nr_to_scan;
	/* What scan_objects() looked at, if that is not nr_to_scan. */
	unsigned long nr_scanned;
	struct mem_cgroup *memcg;
};

/* Returned by scan_objects(): no progress is possible now; by count_objects(): there is nothing at all. */
#define SHRINK_STOP (~0UL)
#define SHRINK_EMPTY (~0UL - 1)

struct shrinker {
	unsigned long (*count_objects)(struct shrinker *shrinker, struct shrink_control *sc);
	unsigned long (*scan_objects)(struct shrinker *shrinker, struct shrink_control *sc);
	/* Objects for one call of scan_objects(); 0 for SHRINK_BATCH. */
	long batch;
	/* What it costs to make an object again, in disk seeks. */
	int seeks;
	unsigned int flags;
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 7, 0)
	void *private_data;
	unsigned long __kapi_rest[8];
#else
	unsigned long __kapi_rest;
#endif
	struct list_head list;
	atomic_long_t *nr_deferred;
};
KAPI_IS_LARGE(struct shrinker, KAPI_SHRINKER_BYTES);

#define DEFAULT_SEEKS 2
#define SHRINK_BATCH 128UL
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 7, 0)
#define SHRINKER_REGISTERED (1U << 0)
#define SHRINKER_ALLOCATED (1U << 1)
#define SHRINKER_NUMA_AWARE (1U << 2)
#define SHRINKER_MEMCG_AWARE (1U << 3)
#define SHRINKER_NONSLAB (1U << 4)
#else
#define SHRINKER_REGISTERED (1U << 0)
#define SHRINKER_NUMA_AWARE (1U << 1)
#define SHRINKER_MEMCG_AWARE (1U << 2)
#define SHRINKER_NONSLAB (1U << 3)
#define SHRINKER_ALLOCATED (1U << 4)
#endif

extern struct shrinker *shrinker_alloc(unsigned int flags, const char *fmt, ...);
extern void shrinker_register(struct shrinker *shrinker);
extern void shrinker_free(struct shrinker *shrinker);

/* register_shrinker(shrinker, fmt, ...); without a name up to 5.19. */
extern int kapi_prealloc_shrinker(struct shrinker *shrinker);
extern int kapi_register_shrinker(struct shrinker *shrinker);
#define register_shrinker(shrinker, ...) kapi_register_shrinker(shrinker)
#define prealloc_shrinker(shrinker, ...) kapi_prealloc_shrinker(shrinker)
extern void register_shrinker_prepared(struct shrinker *shrinker);
extern void unregister_shrinker(struct shrinker *shrinker);
extern void free_prealloced_shrinker(struct shrinker *shrinker);
extern void synchronize_shrinkers(void);

#endif
