// SPDX-License-Identifier: MIT OR Apache-2.0
// So many times in an interval.
#include <linux/jiffies.h>
#include <linux/kernel.h>
#include <linux/ratelimit.h>
#include <linux/spinlock.h>

int ___ratelimit(struct ratelimit_state *rs, const char *func)
{
	int interval = READ_ONCE(rs->interval), burst = READ_ONCE(rs->burst), missed = 0;
	unsigned long flags;
	bool may;

	raw_spin_lock_irqsave(&rs->lock, flags);
	if (interval <= 0 || burst <= 0) {
		may = interval == 0 || burst > 0;
		/* Once it limits again, it begins anew. */
		rs->kapi_begun = false;
	} else {
		if (!rs->kapi_begun || time_after(jiffies, rs->begin + (unsigned long)interval)) {
			rs->kapi_begun = true;
			rs->begin = jiffies;
			rs->kapi_left = burst;
			if (!(rs->flags & RATELIMIT_MSG_ON_RELEASE))
				missed = ratelimit_state_reset_miss(rs);
		}
		may = rs->kapi_left > 0;
		rs->kapi_left -= may;
	}
	if (!may)
		ratelimit_state_inc_miss(rs);
	raw_spin_unlock_irqrestore(&rs->lock, flags);
	if (missed)
		printk(KERN_WARNING "%s: %d callbacks suppressed\n", func, missed);
	return may;
}
