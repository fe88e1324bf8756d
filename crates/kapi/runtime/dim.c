// SPDX-License-Identifier: MIT OR Apache-2.0
// Rates between samples, and steps to a better setting.
#include "host.h"
#include <linux/dim.h>

bool dim_on_top(struct dim *dim)
{
	switch (dim->tune_state) {
	case DIM_GOING_RIGHT:
		return dim->steps_left > 1 && dim->steps_right == 1;
	case DIM_GOING_LEFT:
		return dim->steps_right > 1 && dim->steps_left == 1;
	default:
		return true;
	}
}

void dim_turn(struct dim *dim)
{
	if (dim->tune_state == DIM_GOING_RIGHT) {
		dim->tune_state = DIM_GOING_LEFT;
		dim->steps_left = 0;
	} else if (dim->tune_state == DIM_GOING_LEFT) {
		dim->tune_state = DIM_GOING_RIGHT;
		dim->steps_right = 0;
	}
}

void dim_park_on_top(struct dim *dim)
{
	dim->steps_right = dim->steps_left = dim->tired = 0;
	dim->tune_state = DIM_PARKING_ON_TOP;
}

void dim_park_tired(struct dim *dim)
{
	dim->steps_right = dim->steps_left = 0;
	dim->tune_state = DIM_PARKING_TIRED;
}

static int per_ms(u64 count, u32 us) { return (int)((count * USEC_PER_MSEC + us - 1) / us); }

bool dim_calc_stats(const struct dim_sample *start, const struct dim_sample *end, struct dim_stats *stats)
{
	u32 us = (u32)ktime_us_delta(end->time, start->time);

	if (!us)
		return false;
	/* The counters may have run over. */
	stats->ppms = per_ms((u32)(end->pkt_ctr - start->pkt_ctr), us);
	stats->bpms = per_ms((u32)(end->byte_ctr - start->byte_ctr), us);
	stats->cpms = per_ms((u32)(end->comp_ctr - start->comp_ctr), us);
	stats->epms = per_ms(DIM_NEVENTS, us);
	stats->cpe_ratio = stats->epms ? stats->cpms * 100 / stats->epms : 0;
	return true;
}
