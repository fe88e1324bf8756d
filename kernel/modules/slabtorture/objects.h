/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * slabtorture: an object's life, from allocation to free, with all the checks
 */
#ifndef SLABTORTURE_OBJECTS_H
#define SLABTORTURE_OBJECTS_H

#include <linux/atomic.h>
#include <linux/mm.h>
#include <linux/prandom.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include <linux/string.h>

#define CTOR_BYTE	0xc7
#define MAGIC		0x5ab1a95ab1a95ab1ULL

/* Contexts that a step runs in */
enum context { THREAD, IRQS_OFF, HARDIRQ, TASKLET, TIMER, CONTEXTS };
static const char * const context_names[] = {
	"thread", "irqs_off", "hardirq", "tasklet", "timer"
};

/* A cache under test. Objects of tagged caches begin with a word that stays. */
struct cache {
	const char *name;
	unsigned int size;
	unsigned int align;
	slab_flags_t flags;
	bool ctor;
	bool tagged;
	struct kmem_cache *kmem;
};

static struct cache caches[] = {
	{ "torture-8", 8 },
	{ "torture-12", 12, 4 },
	{ "torture-24", 24, 0, SLAB_HWCACHE_ALIGN },
	{ "torture-33", 33, 1 },
	{ "torture-56", 56, 8, 0, true },
	{ "torture-64", 64, 64 },
	{ "torture-100", 100, 0, SLAB_TYPESAFE_BY_RCU, false, true },
	{ "torture-232", 232, 0, SLAB_HWCACHE_ALIGN },
	{ "torture-320", 320, 0, SLAB_TYPESAFE_BY_RCU, false, true },
	{ "torture-700", 700, 16, 0, true },
	/*
	 * Not a multiple of what it asks for, so that aligning shows; with a
	 * constructor, or it is merged with kmalloc's of 1024.
	 */
	{ "torture-1000", 1000, 128, 0, true },
	{ "torture-1024", 1024, 128 },
	{ "torture-2000", 2000 },
	{ "torture-4096", 4096 },
	{ "torture-5000", 5000, 0, 0, true },
};

/**
 * struct slot - A place for one object.
 * @claimed: 1 while somebody works on the slot.
 * @cpu: Where the object was allocated.
 * @object: The object, or NULL.
 * @cache: Its cache, NULL for kmalloc().
 * @bytes: Length that is stamped.
 * @token: The stamp.
 */
struct slot {
	atomic_t claimed;
	unsigned int cpu;
	void *object;
	struct cache *cache;
	size_t bytes;
	u64 token;
};

/* What one context on one CPU did. Only that context writes to it. */
struct tally {
	struct rnd_state random;
	unsigned long steps;
	unsigned long allocs;
	unsigned long frees;
	unsigned long remote_frees;
	unsigned long failed;
	unsigned long bulk;
	unsigned long reallocs;
	unsigned long rcu;
};

static atomic_t errors;
static atomic64_t serial;

static void complain(const char *what, const void *object, size_t bytes,
		     size_t at)
{
	if (atomic_inc_return(&errors) <= 20)
		pr_err("slabtorture: error %s object=%px bytes=%zu at=%zu cpu=%u\n",
		       what, object, bytes, at, raw_smp_processor_id());
}

/*
 * Stamps
 */

static u64 stamp_word(u64 token, size_t i)
{
	return token ^ (i * 0x9e3779b97f4a7c15ULL);
}

static u64 tag_of(const struct cache *cache)
{
	return MAGIC ^ (cache - caches);
}

/* First byte that is stamped: behind the tag, if there is one. */
static size_t stamp_begin(const struct cache *cache)
{
	return cache && cache->tagged ? sizeof(u64) : 0;
}

static void stamp(const struct slot *slot)
{
	size_t at = stamp_begin(slot->cache);

	for (; at + sizeof(u64) <= slot->bytes; at += sizeof(u64))
		*(u64 *)(slot->object + at) = stamp_word(slot->token, at);
	for (; at < slot->bytes; at++)
		*(u8 *)(slot->object + at) = slot->token >> (at % 8 * 8);
}

/* Checks the stamp on the first @bytes. */
static bool stamped(const struct slot *slot, size_t bytes)
{
	size_t at = stamp_begin(slot->cache);
	size_t words = round_down(slot->bytes, sizeof(u64));

	for (; at + sizeof(u64) <= min(bytes, words); at += sizeof(u64))
		if (*(u64 *)(slot->object + at) != stamp_word(slot->token, at))
			goto bad;
	for (at = max(at, words); at < bytes; at++)
		if (*(u8 *)(slot->object + at) != (u8)(slot->token >> (at % 8 * 8)))
			goto bad;
	return true;
bad:
	complain("stamp", slot->object, slot->bytes, at);
	return false;
}

static bool all_bytes(const void *object, size_t from, size_t to, u8 byte)
{
	size_t at;

	for (at = from; at < to; at++)
		if (((const u8 *)object)[at] != byte)
			return false;
	return true;
}

static void torture_ctor(void *object, size_t bytes)
{
	memset(object, CTOR_BYTE, bytes);
}

/* A constructor is not told its cache, so each size has its own. */
static void ctor_56(void *object) { torture_ctor(object, 56); }
static void ctor_700(void *object) { torture_ctor(object, 700); }
static void ctor_1000(void *object) { torture_ctor(object, 1000); }
static void ctor_5000(void *object) { torture_ctor(object, 5000); }

static void (*ctor_of(const struct cache *cache))(void *)
{
	if (!cache->ctor)
		return NULL;
	return cache->size == 56 ? ctor_56 :
	       cache->size == 700 ? ctor_700 :
	       cache->size == 1000 ? ctor_1000 : ctor_5000;
}

/*
 * Objects
 */

static size_t random_size(struct rnd_state *random)
{
	u32 r = prandom_u32_state(random);

	switch (r % 16) {
	case 0:
		return 1 + (r >> 8) % 12000;
	case 1 ... 3:
		return 1UL << ((r >> 8) % 13);
	case 4 ... 6:
		return 1 + (r >> 8) % 1200;
	default:
		return 1 + (r >> 8) % 256;
	}
}

/* Checks a new object of @cache, or of kmalloc(). */
static void check_new(const struct slot *slot, gfp_t gfp, size_t asked)
{
	unsigned long address = (unsigned long)slot->object;
	struct cache *cache = slot->cache;
	size_t align = sizeof(void *);

	if (cache)
		align = max_t(size_t, cache->align, sizeof(void *));
	else if (is_power_of_2(asked))
		align = max_t(size_t, asked, sizeof(void *));
	if (!IS_ALIGNED(address, min_t(size_t, align, PAGE_SIZE)))
		complain("align", slot->object, asked, 0);
	if ((gfp & __GFP_ZERO) && !all_bytes(slot->object, 0, asked, 0))
		complain("zero", slot->object, asked, 0);
	if (cache && cache->ctor &&
	    !all_bytes(slot->object, 0, cache->size, CTOR_BYTE))
		complain("ctor", slot->object, asked, 0);
	if (!cache && slot->bytes < asked)
		complain("ksize", slot->object, asked, slot->bytes);
}

static void fill(struct slot *slot, struct tally *tally, gfp_t gfp)
{
	struct rnd_state *random = &tally->random;
	u32 r = prandom_u32_state(random);
	size_t asked;

	if (r & 1) {
		slot->cache = &caches[(r >> 8) % ARRAY_SIZE(caches)];
		asked = slot->cache->size;
		if ((r & 6) == 6 && !slot->cache->ctor)
			gfp |= __GFP_ZERO;
		slot->object = kmem_cache_alloc(slot->cache->kmem, gfp);
		slot->bytes = asked;
	} else {
		slot->cache = NULL;
		asked = random_size(random);
		if ((r & 6) == 6)
			gfp |= __GFP_ZERO;
		slot->object = kmalloc(asked, gfp);
		/* What ksize() promises is ours as well. */
		slot->bytes = slot->object ? ksize(slot->object) : 0;
	}
	if (!slot->object) {
		tally->failed++;
		return;
	}
	check_new(slot, gfp, asked);
	if (slot->cache && slot->cache->tagged)
		*(u64 *)slot->object = tag_of(slot->cache);
	slot->token = MAGIC * atomic64_inc_return(&serial);
	slot->cpu = raw_smp_processor_id();
	stamp(slot);
	tally->allocs++;
}

/* Frees to a tagged cache, and looks whether the memory keeps its type. */
static void free_typesafe(struct slot *slot)
{
	u64 *tag = slot->object;
	unsigned int i;

	rcu_read_lock();
	kmem_cache_free(slot->cache->kmem, slot->object);
	for (i = 0; i < 50; i++) {
		u64 now = READ_ONCE(*tag);

		/* A new owner may have zeroed it on the way to tagging it. */
		if (now != tag_of(slot->cache) && now) {
			complain("typesafe", tag, slot->bytes, i);
			break;
		}
		cpu_relax();
	}
	rcu_read_unlock();
}

struct rcu_object {
	struct rcu_head rcu;
};

static void drain(struct slot *slot, struct tally *tally, enum context context)
{
	u32 r = prandom_u32_state(&tally->random);
	struct cache *cache = slot->cache;

	tally->frees++;
	if (slot->cpu != raw_smp_processor_id())
		tally->remote_frees++;

	if (!stamped(slot, slot->bytes)) {
		/* Its memory has another owner: freeing would make it worse. */
	} else if (!cache && context == THREAD && r % 8 == 0 &&
		   slot->bytes >= sizeof(struct rcu_object)) {
		tally->rcu++;
		kfree_rcu((struct rcu_object *)slot->object, rcu);
	} else if (!cache) {
		kfree(slot->object);
	} else if (cache->tagged) {
		tally->rcu++;
		free_typesafe(slot);
	} else {
		if (cache->ctor)
			torture_ctor(slot->object, cache->size);
		kmem_cache_free(cache->kmem, slot->object);
	}
	slot->object = NULL;
}

static void resize(struct slot *slot, struct tally *tally, gfp_t gfp)
{
	size_t asked = random_size(&tally->random);
	size_t kept = min(asked, slot->bytes);
	void *object;

	if (!stamped(slot, slot->bytes))
		return;
	object = krealloc(slot->object, asked, gfp);
	if (!object) {
		tally->failed++;
		return;
	}
	slot->object = object;
	stamped(slot, kept);
	slot->bytes = ksize(object);
	slot->cpu = raw_smp_processor_id();
	slot->token = MAGIC * atomic64_inc_return(&serial);
	stamp(slot);
	tally->reallocs++;
}

#endif /* SLABTORTURE_OBJECTS_H */
