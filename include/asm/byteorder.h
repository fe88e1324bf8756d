/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Byte order: numbers of a fixed order from and to the machine's, which is little endian.
 *
 * Linux counterpart: include/linux/byteorder/little_endian.h and generic.h @ 6.12. */
#ifndef _ASM_BYTEORDER_H
#define _ASM_BYTEORDER_H

#include <linux/types.h>

#define __LITTLE_ENDIAN 1234
#define __LITTLE_ENDIAN_BITFIELD

/* Usable in constants. */
#define swab16(x) ((u16)__builtin_bswap16(x))
#define swab32(x) ((u32)__builtin_bswap32(x))
#define swab64(x) ((u64)__builtin_bswap64(x))
#define __swab16(x) swab16(x)
#define __swab32(x) swab32(x)
#define __swab64(x) swab64(x)
#define swab16p(p) swab16(*(const u16 *)(p))
#define swab32p(p) swab32(*(const u32 *)(p))
#define swab64p(p) swab64(*(const u64 *)(p))
#define __constant_cpu_to_le16(x) ((__le16)(x))
#define __constant_cpu_to_le32(x) ((__le32)(x))
#define __constant_cpu_to_le64(x) ((__le64)(x))
#define __constant_cpu_to_be16(x) ((__be16)swab16(x))
#define __constant_cpu_to_be32(x) ((__be32)swab32(x))
#define __constant_cpu_to_be64(x) ((__be64)swab64(x))

#define __KAPI_ORDER(bits, value) ((u##bits)(value))
#define cpu_to_le16(x) __KAPI_ORDER(16, x)
#define cpu_to_le32(x) __KAPI_ORDER(32, x)
#define cpu_to_le64(x) __KAPI_ORDER(64, x)
#define le16_to_cpu(x) __KAPI_ORDER(16, x)
#define le32_to_cpu(x) __KAPI_ORDER(32, x)
#define le64_to_cpu(x) __KAPI_ORDER(64, x)
#define cpu_to_be16(x) swab16(x)
#define cpu_to_be32(x) swab32(x)
#define cpu_to_be64(x) swab64(x)
#define be16_to_cpu(x) swab16(x)
#define be32_to_cpu(x) swab32(x)
#define be64_to_cpu(x) swab64(x)

/* Through a pointer, and in place. */
#define le16_to_cpup(p) le16_to_cpu(*(const __le16 *)(p))
#define le32_to_cpup(p) le32_to_cpu(*(const __le32 *)(p))
#define le64_to_cpup(p) le64_to_cpu(*(const __le64 *)(p))
#define be16_to_cpup(p) be16_to_cpu(*(const __be16 *)(p))
#define be32_to_cpup(p) be32_to_cpu(*(const __be32 *)(p))
#define be64_to_cpup(p) be64_to_cpu(*(const __be64 *)(p))
#define cpu_to_le32s(p) ((void)(p))
#define le32_to_cpus(p) ((void)(p))
#define cpu_to_be32s(p) ((void)(*(p) = swab32(*(p))))
#define be32_to_cpus(p) ((void)(*(p) = swab32(*(p))))

#define htons(x) cpu_to_be16(x)
#define htonl(x) cpu_to_be32(x)
#define ntohs(x) be16_to_cpu(x)
#define ntohl(x) be32_to_cpu(x)

static inline void le16_add_cpu(__le16 *var, u16 val) { *var = cpu_to_le16((u16)(le16_to_cpu(*var) + val)); }
static inline void le32_add_cpu(__le32 *var, u32 val) { *var = cpu_to_le32(le32_to_cpu(*var) + val); }
static inline void be16_add_cpu(__be16 *var, u16 val) { *var = cpu_to_be16((u16)(be16_to_cpu(*var) + val)); }
static inline void be32_add_cpu(__be32 *var, u32 val) { *var = cpu_to_be32(be32_to_cpu(*var) + val); }

#endif
