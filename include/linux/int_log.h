/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Logarithms of whole numbers, times 2^24.
 *
 * Linear between 256 points that are exact to 16 bits; of 0 it is 0.
 *
 * Linux counterpart: include/linux/int_log.h @ 6.6.
 */
#ifndef _LINUX_INT_LOG_H
#define _LINUX_INT_LOG_H

#include <linux/types.h>

extern unsigned int intlog2(u32 value);
extern unsigned int intlog10(u32 value);

#endif
