/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Pseudo-random numbers: splitmix64, whose state is the seed. */
#ifndef _LINUX_PRANDOM_H
#define _LINUX_PRANDOM_H

#include <linux/types.h>

struct rnd_state {
	u64 state;
};

static inline void prandom_seed_state(struct rnd_state *rnd, u64 seed) { rnd->state = seed; }

static inline u32 prandom_u32_state(struct rnd_state *rnd)
{
	u64 z = rnd->state += 0x9e3779b97f4a7c15ULL;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
	return (u32)((z ^ (z >> 31)) >> 32);
}

extern u32 get_random_u32(void);
extern u32 get_random_u32_below(u32 ceil);
#define prandom_u32() get_random_u32()
#define prandom_u32_max(ceil) get_random_u32_below(ceil)
#define random32() get_random_u32()
#define net_random() get_random_u32()
#define srandom32(seed) ((void)(seed))
#define prandom_seed(seed) ((void)(seed))
#define prandom_bytes(buf, n) get_random_bytes(buf, n)

#endif
