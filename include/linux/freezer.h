/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* See <linux/sched.h>. */
#ifndef _LINUX_FREEZER_H
#define _LINUX_FREEZER_H

#include <linux/sched.h>

#endif
