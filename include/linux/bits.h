/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Single bits and masks of them. */
#ifndef _LINUX_BITS_H
#define _LINUX_BITS_H

#include <linux/types.h>

#define BITS_PER_LONG 64
#define BITS_PER_LONG_LONG 64
#define BIT(nr) (1UL << (nr))
#define BIT_ULL(nr) (1ULL << (nr))
#define BIT_MASK(nr) (1UL << ((nr) % BITS_PER_LONG))
#define BIT_WORD(nr) ((nr) / BITS_PER_LONG)
#define GENMASK_INPUT_CHECK(high, low) 0
#define GENMASK(high, low) ((~0UL << (low)) & (~0UL >> (BITS_PER_LONG - 1 - (high))))
#define GENMASK_ULL(high, low) ((~0ULL << (low)) & (~0ULL >> (63 - (high))))

#endif
