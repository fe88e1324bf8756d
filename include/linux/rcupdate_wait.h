/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Waiting for a grace period, and letting others run where one is awaited: both are in the headers below. */
#ifndef _LINUX_RCUPDATE_WAIT_H
#define _LINUX_RCUPDATE_WAIT_H

#include <linux/completion.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>

#endif
