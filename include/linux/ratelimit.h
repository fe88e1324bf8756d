/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Whether something may happen once more; an interval of 0 lets all pass, a burst of 0 none.
 *
 * Linux counterpart: include/linux/ratelimit.h @ 6.16.
 */
#ifndef _LINUX_RATELIMIT_H
#define _LINUX_RATELIMIT_H

#include <linux/atomic.h>
#include <linux/printk.h>
#include <linux/ratelimit_types.h>
#include <linux/sched.h>
#include <linux/string.h>

static inline void ratelimit_state_init(struct ratelimit_state *rs, int interval, int burst)
{
	*rs = (struct ratelimit_state)RATELIMIT_STATE_INIT(rs, interval, burst);
}
static inline void ratelimit_default_init(struct ratelimit_state *rs)
{
	ratelimit_state_init(rs, DEFAULT_RATELIMIT_INTERVAL, DEFAULT_RATELIMIT_BURST);
}
static inline void ratelimit_state_inc_miss(struct ratelimit_state *rs) { atomic_inc(&rs->missed); }
static inline int ratelimit_state_get_miss(struct ratelimit_state *rs) { return atomic_read(&rs->missed); }
static inline int ratelimit_state_reset_miss(struct ratelimit_state *rs) { return atomic_xchg(&rs->missed, 0); }
static inline void ratelimit_state_reset_interval(struct ratelimit_state *rs, int interval)
{
	rs->interval = interval;
	rs->kapi_begun = false;
	atomic_set(&rs->missed, 0);
}
static inline void ratelimit_set_flags(struct ratelimit_state *rs, unsigned long flags) { rs->flags = (unsigned int)flags; }
static inline void ratelimit_state_exit(struct ratelimit_state *rs)
{
	int missed = ratelimit_state_reset_miss(rs);

	if ((rs->flags & RATELIMIT_MSG_ON_RELEASE) && missed)
		pr_warn("%s: %d output lines suppressed due to ratelimiting\n", current->comm, missed);
}

#endif
