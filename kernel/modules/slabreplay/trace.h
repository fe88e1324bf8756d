/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The compact trace that slablab writes (crates/replay/src/exact/compact.rs). All numbers are little-endian.
 *
 *   header, caches of them, events of them, and nothing behind
 *
 * An object is allocated once and freed once at most, so that an object's number is also its slot.
 */
#ifndef _SLABREPLAY_TRACE_H
#define _SLABREPLAY_TRACE_H

#include <linux/types.h>

#define TRACE_MAGIC "SLABRPL1"

struct trace_header {
	char magic[8];
	__le32 cpus;
	__le32 caches;
	__le32 objects;
	__le32 events;
};

/* The flags of a cache. */
#define CACHE_HWCACHE_ALIGN 1
#define CACHE_RECLAIM_ACCOUNT 2
#define CACHE_TYPESAFE_BY_RCU 4
#define CACHE_CTOR 8
/* A class of kmalloc(): where kmalloc() has no caches, kmalloc() itself. */
#define CACHE_KMALLOC 16
/* Too large for a cache: always kmalloc() itself. */
#define CACHE_LARGE 32
/* The objects in a sheaf that the cache asks for, as two do since Linux 6.18; 0 for all others. */
#define CACHE_SHEAF(flags) ((flags) >> 16)

struct trace_cache {
	__le32 size;
	__le32 align;
	__le32 flags;
};

/* The bit of trace_event.cache that makes it an allocation. */
#define EVENT_ALLOC 0x8000
/*
 * The cache of an event that is no object's: a CPU's visits to what it parks by
 * the clock are due, as many as the event has bytes. Other kernels than
 * SLUB_DENSE are given none.
 */
#define EVENT_VISITS 0x7fff

struct trace_event {
	__le32 object;
	__le32 bytes;
	__le16 cache;
	__le16 cpu;
};

#endif
