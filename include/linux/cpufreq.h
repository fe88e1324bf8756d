/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* See <linux/types.h>. */
#ifndef _LINUX_CPUFREQ_H
#define _LINUX_CPUFREQ_H

#include <linux/types.h>

#endif
