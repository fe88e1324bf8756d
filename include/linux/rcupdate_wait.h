/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Waiting for a grace period, and letting others run where one is awaited.
 *
 * Linux counterpart: include/linux/rcupdate_wait.h @ 4.12.
 */
#ifndef _LINUX_RCUPDATE_WAIT_H
#define _LINUX_RCUPDATE_WAIT_H

#include <linux/completion.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>

#define cond_resched_rcu() ({ \
	rcu_read_unlock(); \
	cond_resched(); \
	rcu_read_lock(); })

#endif
