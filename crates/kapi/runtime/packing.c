// SPDX-License-Identifier: MIT OR Apache-2.0
// Numbers at any bits of a buffer.
#include "host.h"
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/packing.h>

/* The byte of the buffer that holds bits @group * 8 and up, as the quirks turn it. */
static size_t byte_of(size_t group, size_t len, u8 quirks)
{
	size_t at = len - 1 - group;

	if (quirks & QUIRK_LSW32_IS_FIRST) {
		size_t word = group / 4, in_word = group % 4;
		/* The last word may be shorter. */
		size_t bytes = min_t(size_t, 4, len - word * 4);

		at = word * 4 + bytes - 1 - in_word;
		if (quirks & QUIRK_LITTLE_ENDIAN)
			at = group;
	} else if (quirks & QUIRK_LITTLE_ENDIAN) {
		size_t word = group / 4, in_word = group % 4;
		size_t bytes = min_t(size_t, 4, len - word * 4);

		at = len - word * 4 - bytes + in_word;
	}
	return at;
}

static u8 mask_of(size_t bit, u8 quirks)
{
	return quirks & QUIRK_MSB_ON_THE_RIGHT ? 0x80 >> bit % 8 : 1 << bit % 8;
}

static int check(u64 value, size_t start, size_t end, size_t len, bool has_value)
{
	size_t width = start - end + 1;

	if (start < end || start >= len * 8 || width > 64)
		return -EINVAL;
	if (has_value && width < 64 && value >> width)
		return -ERANGE;
	return 0;
}

int pack(void *pbuf, u64 uval, size_t startbit, size_t endbit, size_t pbuflen, u8 quirks)
{
	int error = check(uval, startbit, endbit, pbuflen, true);
	u8 *bytes = pbuf;
	size_t bit;

	if (error)
		return error;
	for (bit = endbit; bit <= startbit; bit++) {
		u8 *byte = bytes + byte_of(bit / 8, pbuflen, quirks), mask = mask_of(bit, quirks);

		*byte = uval >> (bit - endbit) & 1 ? *byte | mask : *byte & ~mask;
	}
	return 0;
}

int unpack(const void *pbuf, u64 *uval, size_t startbit, size_t endbit, size_t pbuflen, u8 quirks)
{
	int error = check(0, startbit, endbit, pbuflen, false);
	const u8 *bytes = pbuf;
	size_t bit;

	if (error)
		return error;
	*uval = 0;
	for (bit = endbit; bit <= startbit; bit++)
		if (bytes[byte_of(bit / 8, pbuflen, quirks)] & mask_of(bit, quirks))
			*uval |= 1ULL << (bit - endbit);
	return 0;
}

int packing(void *pbuf, u64 *uval, int startbit, int endbit, size_t pbuflen, enum packing_op op, u8 quirks)
{
	if (op == UNPACK)
		return unpack(pbuf, uval, startbit, endbit, pbuflen, quirks);
	return pack(pbuf, *uval, startbit, endbit, pbuflen, quirks);
}

static u64 load(const void *field, size_t size)
{
	switch (size) {
	case 1: return *(const u8 *)field;
	case 2: return *(const u16 *)field;
	case 4: return *(const u32 *)field;
	default: return *(const u64 *)field;
	}
}

static void store(void *field, size_t size, u64 value)
{
	switch (size) {
	case 1: *(u8 *)field = value; break;
	case 2: *(u16 *)field = value; break;
	case 4: *(u32 *)field = value; break;
	default: *(u64 *)field = value;
	}
}

#define FIELDS(type) \
	void pack_fields_##type(void *pbuf, size_t pbuflen, const void *ustruct, const struct packed_field_##type *fields, \
				size_t num_fields, u8 quirks) \
	{ \
		for (; num_fields; num_fields--, fields++) \
			WARN_ON(pack(pbuf, load(ustruct + fields->offset, fields->size), fields->startbit, \
				     fields->endbit, pbuflen, quirks)); \
	} \
	void unpack_fields_##type(const void *pbuf, size_t pbuflen, void *ustruct, \
				  const struct packed_field_##type *fields, size_t num_fields, u8 quirks) \
	{ \
		for (; num_fields; num_fields--, fields++) { \
			u64 value = 0; \
			WARN_ON(unpack(pbuf, &value, fields->startbit, fields->endbit, pbuflen, quirks)); \
			store(ustruct + fields->offset, fields->size, value); \
		} \
	}
FIELDS(u8)
FIELDS(u16)
