/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Single bits and masks of them. */
#ifndef _LINUX_BITS_H
#define _LINUX_BITS_H

#include <linux/types.h>

#define BITS_PER_LONG 64
#define BITS_PER_LONG_LONG 64
#define BIT(nr) (1UL << (nr))
#define BIT_ULL(nr) (1ULL << (nr))
/* Of a fixed width, as in 7.3. */
#define BIT_U8(nr) ((u8)(1U << (nr)))
#define BIT_U16(nr) ((u16)(1U << (nr)))
#define BIT_U32(nr) ((u32)(1U << (nr)))
#define BIT_U64(nr) ((u64)(1ULL << (nr)))
#define BIT_MASK(nr) (1UL << ((nr) % BITS_PER_LONG))
#define BIT_WORD(nr) ((nr) / BITS_PER_LONG)
#define GENMASK_INPUT_CHECK(high, low) 0
#define GENMASK(high, low) ((~0UL << (low)) & (~0UL >> (BITS_PER_LONG - 1 - (high))))
#define GENMASK_ULL(high, low) ((~0ULL << (low)) & (~0ULL >> (63 - (high))))
#define __GENMASK(high, low) GENMASK(high, low)
#define __GENMASK_ULL(high, low) GENMASK_ULL(high, low)
#define GENMASK_TYPE(t, high, low) ((t)((t)(~(t)0 << (low)) & (t)((t)~(t)0 >> (8 * sizeof(t) - 1 - (high)))))
#define GENMASK_U8(high, low) GENMASK_TYPE(u8, high, low)
#define GENMASK_U16(high, low) GENMASK_TYPE(u16, high, low)
#define GENMASK_U32(high, low) GENMASK_TYPE(u32, high, low)
#define GENMASK_U64(high, low) GENMASK_TYPE(u64, high, low)
#define GENMASK_U128(high, low) GENMASK_TYPE(unsigned __int128, high, low)

#endif
