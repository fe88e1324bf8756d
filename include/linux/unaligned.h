/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Numbers at any address, in the machine's order or in a fixed one.
 *
 * Linux counterpart: include/linux/unaligned.h @ 6.12, asm/unaligned.h before. */
#ifndef _LINUX_UNALIGNED_H
#define _LINUX_UNALIGNED_H

#include <linux/types.h>
#include <asm/byteorder.h>

#define get_unaligned(ptr) ({ \
	struct __attribute__((__packed__)) { typeof(*(ptr)) value; } *__kapi_at = (void *)(ptr); \
	__kapi_at->value; })
#define put_unaligned(val, ptr) do { \
	struct __attribute__((__packed__)) { typeof(*(ptr)) value; } *__kapi_at = (void *)(ptr); \
	__kapi_at->value = (val); \
} while (0)

#define __KAPI_UNALIGNED(order, bits) \
	static inline u##bits get_unaligned_##order##bits(const void *p) \
	{ \
		__##order##bits n; \
		__builtin_memcpy(&n, p, sizeof(n)); \
		return order##bits##_to_cpu(n); \
	} \
	static inline void put_unaligned_##order##bits(u##bits value, void *p) \
	{ \
		__##order##bits n = cpu_to_##order##bits(value); \
		__builtin_memcpy(p, &n, sizeof(n)); \
	}
__KAPI_UNALIGNED(le, 16)
__KAPI_UNALIGNED(le, 32)
__KAPI_UNALIGNED(le, 64)
__KAPI_UNALIGNED(be, 16)
__KAPI_UNALIGNED(be, 32)
__KAPI_UNALIGNED(be, 64)

static inline u32 get_unaligned_le24(const void *p)
{
	const u8 *b = (const u8 *)p;

	return b[0] | (u32)b[1] << 8 | (u32)b[2] << 16;
}

static inline u32 get_unaligned_be24(const void *p)
{
	const u8 *b = (const u8 *)p;

	return (u32)b[0] << 16 | (u32)b[1] << 8 | b[2];
}

#endif
