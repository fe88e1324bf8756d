/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Numbers in buffers at any bits, as hardware's manuals describe them: bit 0 is the last byte's lowest, unless a quirk
 * says otherwise.
 *
 * Linux counterpart: include/linux/packing.h @ 6.14. Difference: whether fields overlap is looked at when they are used.
 */
#ifndef _LINUX_PACKING_H
#define _LINUX_PACKING_H

#include <linux/array_size.h>
#include <linux/bitops.h>
#include <linux/build_bug.h>
#include <linux/minmax.h>
#include <linux/stddef.h>
#include <linux/types.h>

/* Each byte's bits are numbered from the left; words of 4 bytes have their lowest byte first; the low word is first. */
#define QUIRK_MSB_ON_THE_RIGHT BIT(0)
#define QUIRK_LITTLE_ENDIAN BIT(1)
#define QUIRK_LSW32_IS_FIRST BIT(2)

enum packing_op {
	PACK,
	UNPACK
};

/* @startbit: the highest. Return: 0, -EINVAL for bits in the wrong order, -ERANGE for a number that does not fit. */
extern int packing(void *pbuf, u64 *uval, int startbit, int endbit, size_t pbuflen, enum packing_op op, u8 quirks);
extern int pack(void *pbuf, u64 uval, size_t startbit, size_t endbit, size_t pbuflen, u8 quirks);
extern int unpack(const void *pbuf, u64 *uval, size_t startbit, size_t endbit, size_t pbuflen, u8 quirks);

/* A field of a structure, and its bits in the buffer. */
struct packed_field_u8 {
	u8 startbit, endbit, offset, size;
};
struct packed_field_u16 {
	u16 startbit, endbit, offset, size;
};
#define PACKED_FIELD(start, end, structure, field) \
	{ (start), (end), offsetof(structure, field), sizeof_field(structure, field) }

extern void pack_fields_u8(void *pbuf, size_t pbuflen, const void *ustruct, const struct packed_field_u8 *fields,
			   size_t num_fields, u8 quirks);
extern void pack_fields_u16(void *pbuf, size_t pbuflen, const void *ustruct, const struct packed_field_u16 *fields,
			    size_t num_fields, u8 quirks);
extern void unpack_fields_u8(const void *pbuf, size_t pbuflen, void *ustruct, const struct packed_field_u8 *fields,
			     size_t num_fields, u8 quirks);
extern void unpack_fields_u16(const void *pbuf, size_t pbuflen, void *ustruct, const struct packed_field_u16 *fields,
			      size_t num_fields, u8 quirks);

#define pack_fields(pbuf, pbuflen, ustruct, fields, quirks) \
	_Generic((fields), const struct packed_field_u8 *: pack_fields_u8, \
		 const struct packed_field_u16 *: pack_fields_u16)(pbuf, pbuflen, ustruct, fields, ARRAY_SIZE(fields), quirks)
#define unpack_fields(pbuf, pbuflen, ustruct, fields, quirks) \
	_Generic((fields), const struct packed_field_u8 *: unpack_fields_u8, \
		 const struct packed_field_u16 *: unpack_fields_u16)(pbuf, pbuflen, ustruct, fields, ARRAY_SIZE(fields), quirks)

#endif
