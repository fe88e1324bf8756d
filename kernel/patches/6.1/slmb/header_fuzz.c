// SPDX-License-Identifier: GPL-2.0-only
/*
 * header_fuzz: what SLMB makes of overwritten headers of free blocks and maps of pages
 *
 * Includes the part of mm/slmb.c that works on one page (slmb_part.h, which the
 * test takes out of the patch) and carves blocks out of a page at random, half of
 * them marked as kmalloc()'s are. Now and then a header is overwritten, or the map.
 * Before that every block must be one of its own, and a marked one known with its
 * length; after it each call must end, and stay within the page.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PAGE_SIZE 4096
#define BITS_PER_BYTE 8
#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))
#define ALIGN(x, a) (((x) + (a) - 1) / (a) * (a))
#define max_t(type, a, b) ((type)(a) > (type)(b) ? (type)(a) : (type)(b))
#define likely(x) (x)
#define unlikely(x) (x)
#define DEFINE_PER_CPU(type, name) int unused_##name
#define ____cacheline_aligned_in_smp
#define TAINT_WARN 0
#define LOCKDEP_STILL_OK 0
#define printk_deferred(...) (warnings++)
#define add_taint(flag, lockdep)

typedef uint16_t u16;
typedef int spinlock_t;
typedef unsigned int gfp_t;
enum zone_type { ZONE_NORMAL };
struct list_head { int listed; };
struct rcu_head { struct rcu_head *next; };
struct slab {
	struct list_head slab_list;
	struct slmb_list *owner;
	u16 first, free, longest, map;
};

static unsigned long warnings;
static _Alignas(PAGE_SIZE) unsigned char page[PAGE_SIZE];

static void *slab_address(const struct slab *slab) { (void)slab; return page; }
static void list_add(struct list_head *entry, struct list_head *head) { (void)head; entry->listed = 1; }
static void list_del_init(struct list_head *entry) { entry->listed = 0; }
static bool list_empty(const struct list_head *entry) { return !entry->listed; }

static bool test_bit(unsigned long bit, const unsigned long *map) { return map[bit / 64] >> bit % 64 & 1; }
static void __change_bit(unsigned long bit, unsigned long *map) { map[bit / 64] ^= 1ul << bit % 64; }
static void bitmap_zero(unsigned long *map, unsigned int bits) { memset(map, 0, bits / 8); }

static unsigned long find_next_bit(const unsigned long *map, unsigned long size, unsigned long bit)
{
	while (bit < size && !test_bit(bit, map))
		bit++;
	return bit;
}

#include "slmb_part.h"

#define LIVE_MAX 256

static struct { unsigned char *at; unsigned int bytes; bool marked; } live[LIVE_MAX];

static void fail(const char *what, unsigned long round)
{
	fprintf(stderr, "header_fuzz: %s in round %lu\n", what, round);
	exit(1);
}

static unsigned int below(unsigned int limit) { return (unsigned int)rand() % limit; }

/* Overwrites the header of a free block, or the map; false when there is none. */
static bool damage(struct slab *slab)
{
	unsigned int at = slab->first, steps = below(8);
	struct slmb_block *block;

	if (slab->map < SLMB_PAGE_UNITS && !below(5)) {
		slmb_map(slab)[below(8)] = below(2) ? -1ul : (unsigned long)rand() << below(40);
		return true;
	}
	if (at >= SLMB_PAGE_UNITS)
		return false;
	while (steps-- && slmb_block(page, at)->next < SLMB_PAGE_UNITS)
		at = slmb_block(page, at)->next;
	block = slmb_block(page, at);
	switch (below(7)) {
	case 0: block->units = 0; break;
	case 1: block->units = (u16)below(0x10000); break;
	case 2: block->next = (u16)below(0x10000); break;
	/* A block without length that is its own successor. */
	case 3: block->units = 0; block->next = (u16)at; break;
	/* A successor at the last unit, of which only a half lies in the page. */
	case 4:
		block->next = SLMB_PAGE_UNITS - 1;
		slmb_block(page, SLMB_PAGE_UNITS - 1)->units = 1;
		break;
	/* One that is not aligned, within the page. */
	case 5: block->units += 1; block->next += 1; break;
	/* One that ends behind the page, and the next one behind that. */
	default: block->units = (u16)(SLMB_PAGE_UNITS - at + below(64)); block->next = (u16)(at + block->units + below(64));
	}
	return true;
}

int main(int argc, char **argv)
{
	unsigned long rounds = strtoul(argv[argc - 1], NULL, 10), round, damaged = 0, found = 0;

	alarm(120); /* A list without an end is one that is never left. */
	srand(1);
	for (round = 0; round < rounds; round++) {
		struct slmb_list list = { .shortest = SLMB_GRAIN / SLMB_UNIT };
		struct slab slab = { 0 };
		unsigned int count = 0, step, steps = 50 + below(300), i;
		bool is_damaged = false, is_found = false;

		slmb_adopt(&list, &slab);
		for (step = 0; step < steps && !is_found; step++) {
			if (!is_damaged && !below(100))
				is_damaged = damage(&slab);
			if (count < LIVE_MAX && below(5) < 3) {
				unsigned int bytes = ALIGN(SLMB_GRAIN + 1 + below(200), SLMB_GRAIN);
				struct slmb_want want = { .units = bytes / SLMB_UNIT, .align = 4u << below(4),
							  .marked = below(2) };
				unsigned long before = warnings;
				unsigned char *at = slmb_take(&slab, &want);

				is_found = warnings != before;
				if (is_found && at)
					fail("a block of a damaged page", round);
				if (!at)
					continue;
				if (at < page || at + bytes > page + PAGE_SIZE)
					fail("a block beyond the page", round);
				for (i = 0; i < count && !is_damaged; i++)
					if (at < live[i].at + live[i].bytes && live[i].at < at + bytes)
						fail("a block twice", round);
				/* What a damaged page hands out may be in use; we keep off it. */
				if (is_damaged)
					continue;
				live[count].marked = want.marked;
				live[count].at = at;
				live[count++].bytes = bytes;
			} else if (count) {
				unsigned int which = below(count), units = live[which].bytes / SLMB_UNIT;
				unsigned int known = slmb_marked(&slab, (live[which].at - page) / SLMB_UNIT);
				enum slmb_fate fate;

				if (!is_damaged && known != (live[which].marked ? units : 0))
					fail("a block with another length than its own", round);
				/* kfree() has no other length than that of the map, and refuses none. */
				if (is_damaged && live[which].marked)
					units = known;
				if (!units) {
					is_found = true;
					continue;
				}
				if (live[which].at + units * SLMB_UNIT > page + PAGE_SIZE)
					fail("a length beyond the page", round);
				fate = slmb_give(&slab, live[which].at, units, live[which].marked);

				if (fate == SLMB_BAD && !is_damaged)
					fail("a good block refused", round);
				is_found = fate == SLMB_BAD;
				live[which] = live[--count];
				if (fate == SLMB_EMPTY && !is_damaged && count)
					fail("an empty page with blocks in use", round);
				if (fate == SLMB_EMPTY)
					break;
			}
		}
		damaged += is_damaged;
		found += is_found;
	}
	printf("header_fuzz: rounds=%lu damaged=%lu found=%lu\n", rounds, damaged, found);
	return 0;
}
