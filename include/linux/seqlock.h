/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Readers that never wait and look again if a writer came between. */
#ifndef _LINUX_SEQLOCK_H
#define _LINUX_SEQLOCK_H

#include <linux/compiler.h>
#include <linux/spinlock.h>
#include <asm/barrier.h>
#include <asm/processor.h>

typedef struct seqcount {
	unsigned int sequence;
} seqcount_t;

typedef struct {
	seqcount_t seqcount;
	spinlock_t lock;
} seqlock_t;

#define SEQCNT_ZERO(name) { 0 }
#define __SEQLOCK_UNLOCKED(name) { { 0 }, __SPIN_LOCK_UNLOCKED(name.lock) }
#define SEQLOCK_UNLOCKED __SEQLOCK_UNLOCKED(old)
#define DEFINE_SEQLOCK(name) seqlock_t name = __SEQLOCK_UNLOCKED(name)
#define seqcount_init(s) ((s)->sequence = 0)
#define seqlock_init(s) do { seqcount_init(&(s)->seqcount); spin_lock_init(&(s)->lock); } while (0)

static inline unsigned int read_seqcount_begin(const seqcount_t *s)
{
	unsigned int seen;

	while ((seen = READ_ONCE(s->sequence)) & 1)
		cpu_relax();
	smp_rmb();
	return seen;
}

static inline int read_seqcount_retry(const seqcount_t *s, unsigned int start)
{
	smp_rmb();
	return READ_ONCE(s->sequence) != start;
}

static inline void write_seqcount_begin(seqcount_t *s)
{
	WRITE_ONCE(s->sequence, s->sequence + 1);
	smp_wmb();
}

static inline void write_seqcount_end(seqcount_t *s)
{
	smp_wmb();
	WRITE_ONCE(s->sequence, s->sequence + 1);
}

#define read_seqbegin(s) read_seqcount_begin(&(s)->seqcount)
#define read_seqretry(s, start) read_seqcount_retry(&(s)->seqcount, start)
#define write_seqlock(s) do { spin_lock(&(s)->lock); write_seqcount_begin(&(s)->seqcount); } while (0)
#define write_sequnlock(s) do { write_seqcount_end(&(s)->seqcount); spin_unlock(&(s)->lock); } while (0)
#define write_seqlock_irqsave(s, flags) \
	do { spin_lock_irqsave(&(s)->lock, flags); write_seqcount_begin(&(s)->seqcount); } while (0)
#define write_sequnlock_irqrestore(s, flags) \
	do { write_seqcount_end(&(s)->seqcount); spin_unlock_irqrestore(&(s)->lock, flags); } while (0)

#endif
