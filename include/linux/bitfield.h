/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Fields of words, named by their mask. */
#ifndef _LINUX_BITFIELD_H
#define _LINUX_BITFIELD_H

#include <asm/byteorder.h>
#include <linux/compiler.h>
#include <linux/bits.h>
#include <linux/types.h>

#define __bf_shf(mask) (__builtin_ffsll(mask) - 1)
#define FIELD_MAX(mask) ((typeof(mask))((mask) >> __bf_shf(mask)))
#define FIELD_FIT(mask, value) (!(((typeof(mask))(value) << __bf_shf(mask)) & ~(mask)))
#define FIELD_PREP(mask, value) (((typeof(mask))(value) << __bf_shf(mask)) & (mask))
#define FIELD_GET(mask, word) ((typeof(mask))(((word) & (mask)) >> __bf_shf(mask)))
#define FIELD_MODIFY(mask, word, value) \
	((void)(*(word) = (typeof(*(word)))((*(word) & ~(mask)) | FIELD_PREP(mask, value))))

/* The same with the word's type and byte order in the name: u16_get_bits(word, mask), le32p_replace_bits(&word, ...). */
#define __KAPI_FIELD(name, type, bits, to, from) \
	static __always_inline type name##_encode_bits(u##bits v, u##bits field) \
	{ \
		return to((u##bits)((v << __bf_shf(field)) & field)); \
	} \
	static __always_inline u##bits name##_get_bits(type v, u##bits field) \
	{ \
		return (u##bits)((from(v) & field) >> __bf_shf(field)); \
	} \
	static __always_inline type name##_replace_bits(type old, u##bits val, u##bits field) \
	{ \
		return (type)((old & (type)~to(field)) | name##_encode_bits(val, field)); \
	} \
	static __always_inline void name##p_replace_bits(type *p, u##bits val, u##bits field) \
	{ \
		*p = name##_replace_bits(*p, val, field); \
	}
#define __KAPI_FIELDS(bits) \
	__KAPI_FIELD(u##bits, u##bits, bits, (u##bits), (u##bits)) \
	__KAPI_FIELD(le##bits, __le##bits, bits, cpu_to_le##bits, le##bits##_to_cpu) \
	__KAPI_FIELD(be##bits, __be##bits, bits, cpu_to_be##bits, be##bits##_to_cpu)
__KAPI_FIELD(u8, u8, 8, (u8), (u8))
__KAPI_FIELDS(16)
__KAPI_FIELDS(32)
__KAPI_FIELDS(64)

#endif
