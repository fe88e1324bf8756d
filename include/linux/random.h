/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Random numbers. */
#ifndef _LINUX_RANDOM_H
#define _LINUX_RANDOM_H

#include <linux/types.h>
#include <linux/prandom.h>

extern void get_random_bytes(void *buf, size_t n);
extern u32 get_random_u32(void);
extern u64 get_random_u64(void);
extern u32 get_random_u32_below(u32 ceil);
#define get_random_int() get_random_u32()
#define get_random_long() ((unsigned long)get_random_u64())
#define get_random_u8() ((u8)get_random_u32())
#define get_random_u16() ((u16)get_random_u32())
#define get_random_u32_inclusive(low, high) ((low) + get_random_u32_below((high) - (low) + 1))
#define wait_for_random_bytes() 0

/* Above @floor. */
static inline u32 get_random_u32_above(u32 floor) { return floor + 1 + get_random_u32_below(~0U - floor); }

#endif
