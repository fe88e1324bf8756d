/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* See <linux/sched.h>. */
#ifndef _LINUX_SCHED_TYPES_H
#define _LINUX_SCHED_TYPES_H

#include <linux/sched.h>

#endif
