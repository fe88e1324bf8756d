/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * How often a device should interrupt: rates between two samples, and the steps of a search for the best setting.
 *
 * Linux counterpart: include/linux/dim.h @ 7.3. Only what needs no network device is here.
 */
#ifndef _LINUX_DIM_H
#define _LINUX_DIM_H

#include <linux/bits.h>
#include <linux/kernel.h>
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/types.h>
#include <linux/workqueue.h>

/* Events between two samples. */
#define DIM_NEVENTS 64
/* More than a tenth. */
#define IS_SIGNIFICANT_DIFF(val, ref) ((ref) && 100UL * abs((val) - (ref)) / (ref) > 10)
/* From @start to @end for a counter of so many bits. */
#define BIT_GAP(bits, end, start) ((((end) - (start)) + BIT_ULL(bits)) & (BIT_ULL(bits) - 1))

struct dim_sample {
	ktime_t time;
	u32 pkt_ctr;
	u32 byte_ctr;
	u16 event_ctr;
	u32 comp_ctr;
};

/* Packets, bytes, events and completions in a millisecond; completions for a hundred events. */
struct dim_stats {
	int ppms;
	int bpms;
	int epms;
	int cpms;
	int cpe_ratio;
};

struct dim {
	u8 state;
	struct dim_stats prev_stats;
	struct dim_sample start_sample;
	struct dim_sample measuring_sample;
	struct work_struct work;
	void *priv;
	u8 profile_ix;
	u8 mode;
	u8 tune_state;
	u8 steps_right;
	u8 steps_left;
	u8 tired;
};

enum dim_tune_state {
	DIM_PARKING_ON_TOP,
	DIM_PARKING_TIRED,
	DIM_GOING_RIGHT,
	DIM_GOING_LEFT
};

/* Whether the last step was back from a setting that was worse. */
extern bool dim_on_top(struct dim *dim);
extern void dim_turn(struct dim *dim);
extern void dim_park_on_top(struct dim *dim);
extern void dim_park_tired(struct dim *dim);
/* Return: false for two samples of one moment. */
extern bool dim_calc_stats(const struct dim_sample *start, const struct dim_sample *end, struct dim_stats *curr_stats);

static inline void dim_update_sample(u16 event_ctr, u64 packets, u64 bytes, struct dim_sample *s)
{
	s->time = ktime_get();
	s->pkt_ctr = (u32)packets;
	s->byte_ctr = (u32)bytes;
	s->event_ctr = event_ctr;
}

static inline void dim_update_sample_with_comps(u16 event_ctr, u64 packets, u64 bytes, u64 comps, struct dim_sample *s)
{
	dim_update_sample(event_ctr, packets, bytes, s);
	s->comp_ctr = (u32)comps;
}

#endif
