/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * How often something may happen: so many times in so many jiffies.
 *
 * Linux counterpart: include/linux/ratelimit_types.h @ 6.16.
 */
#ifndef _LINUX_RATELIMIT_TYPES_H
#define _LINUX_RATELIMIT_TYPES_H

#include <linux/param.h>
#include <linux/spinlock_types.h>
#include <linux/types.h>

#define DEFAULT_RATELIMIT_INTERVAL (5 * HZ)
#define DEFAULT_RATELIMIT_BURST 10
/* The number of refusals is not said when the next interval begins, but when the state goes. */
#define RATELIMIT_MSG_ON_RELEASE 0x01

struct ratelimit_state {
	raw_spinlock_t lock;
	int interval;
	int burst;
	int kapi_left;
	atomic_t missed;
	unsigned int flags;
	bool kapi_begun;
	unsigned long begin;
};

#define RATELIMIT_STATE_INIT_FLAGS(name, _interval, _burst, _flags) \
	{ .interval = _interval, .burst = _burst, .flags = _flags }
#define RATELIMIT_STATE_INIT(name, _interval, _burst) RATELIMIT_STATE_INIT_FLAGS(name, _interval, _burst, 0)
#define RATELIMIT_STATE_INIT_DISABLED RATELIMIT_STATE_INIT(disabled, 0, DEFAULT_RATELIMIT_BURST)
#define DEFINE_RATELIMIT_STATE(name, interval, burst) \
	struct ratelimit_state name = RATELIMIT_STATE_INIT(name, interval, burst)

extern int ___ratelimit(struct ratelimit_state *rs, const char *func);
#define __ratelimit(state) ___ratelimit(state, __func__)

#endif
