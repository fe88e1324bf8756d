/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Pseudo-random numbers: L'Ecuyer's LFSR113 ("Tables of maximally equidistributed combined LFSR generators", 1999),
 * which is what Linux 6.1 has, so that a seed gives the same numbers. */
#ifndef _LINUX_PRANDOM_H
#define _LINUX_PRANDOM_H

#include <linux/types.h>

struct rnd_state {
	u32 s1, s2, s3, s4;
};

/* Each part has a least value that does not end in zeros. */
static inline u32 __seed(u32 x, u32 m) { return x < m ? x + m : x; }

static inline void prandom_seed_state(struct rnd_state *state, u64 seed)
{
	u32 i = (u32)((seed >> 32) ^ (seed << 10) ^ seed);

	state->s1 = __seed(i, 2);
	state->s2 = __seed(i, 8);
	state->s3 = __seed(i, 16);
	state->s4 = __seed(i, 128);
}

static inline u32 prandom_u32_state(struct rnd_state *state)
{
	state->s1 = (state->s1 & ~1U) << 18 ^ (state->s1 << 6 ^ state->s1) >> 13;
	state->s2 = (state->s2 & ~7U) << 2 ^ (state->s2 << 2 ^ state->s2) >> 27;
	state->s3 = (state->s3 & ~15U) << 7 ^ (state->s3 << 13 ^ state->s3) >> 21;
	state->s4 = (state->s4 & ~127U) << 13 ^ (state->s4 << 3 ^ state->s4) >> 12;
	return state->s1 ^ state->s2 ^ state->s3 ^ state->s4;
}

static inline void prandom_bytes_state(struct rnd_state *state, void *buf, size_t n)
{
	u8 *to = buf;
	size_t i;
	u32 word = 0;

	for (i = 0; i < n; i++, word >>= 8) {
		if (i % 4 == 0)
			word = prandom_u32_state(state);
		to[i] = (u8)word;
	}
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
