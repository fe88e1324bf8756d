/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* See <linux/sched.h>. */
#ifndef _LINUX_SCHED_TASK_H
#define _LINUX_SCHED_TASK_H

#include <linux/sched.h>

#endif
