/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* See <linux/ktime.h>. */
#ifndef _LINUX_CLOCKSOURCE_H
#define _LINUX_CLOCKSOURCE_H

#include <linux/ktime.h>

#endif
