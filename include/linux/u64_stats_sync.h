/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Counters of 64 bits that are read while another CPU counts.
 *
 * A machine word holds one, so that no reader sees half of a number: the section of a writer and of a reader is empty,
 * as on every machine of 64 bits. A number is added in one operation, since several threads may share a CPU.
 *
 * Linux counterpart: include/linux/u64_stats_sync.h @ 6.12; u64_stats_t @ 5.5.
 */
#ifndef _LINUX_U64_STATS_SYNC_H
#define _LINUX_U64_STATS_SYNC_H

#include <linux/compiler.h>
#include <linux/string.h>
#include <linux/types.h>

struct u64_stats_sync {
};
typedef struct {
	u64 kapi_value;
} u64_stats_t;

static inline u64 u64_stats_read(const u64_stats_t *p) { return READ_ONCE(p->kapi_value); }
static inline void u64_stats_set(u64_stats_t *p, u64 value) { WRITE_ONCE(p->kapi_value, value); }
static inline void u64_stats_add(u64_stats_t *p, unsigned long value)
{
	__atomic_fetch_add(&p->kapi_value, value, __ATOMIC_RELAXED);
}
static inline void u64_stats_sub(u64_stats_t *p, s64 value)
{
	__atomic_fetch_sub(&p->kapi_value, (u64)value, __ATOMIC_RELAXED);
}
static inline void u64_stats_inc(u64_stats_t *p) { u64_stats_add(p, 1); }
static inline void *u64_stats_copy(void *to, const void *from, size_t n) { return memcpy(to, from, n); }

static inline void u64_stats_init(struct u64_stats_sync *sync) { (void)sync; }
static inline void u64_stats_update_begin(struct u64_stats_sync *sync) { barrier(); }
static inline void u64_stats_update_end(struct u64_stats_sync *sync) { barrier(); }
static inline unsigned long u64_stats_update_begin_irqsave(struct u64_stats_sync *sync) { return 0; }
static inline void u64_stats_update_end_irqrestore(struct u64_stats_sync *sync, unsigned long flags) { barrier(); }
static inline unsigned int u64_stats_fetch_begin(const struct u64_stats_sync *sync) { return 0; }
static inline bool u64_stats_fetch_retry(const struct u64_stats_sync *sync, unsigned int start) { return false; }
#define __u64_stats_update_begin(sync) u64_stats_update_begin(sync)
#define __u64_stats_update_end(sync) u64_stats_update_end(sync)
/* Names up to 6.2. */
#define u64_stats_fetch_begin_irq(sync) u64_stats_fetch_begin(sync)
#define u64_stats_fetch_retry_irq(sync, start) u64_stats_fetch_retry(sync, start)

#endif
