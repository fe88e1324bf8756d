/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Arithmetic that says when it overflows. */
#ifndef _LINUX_OVERFLOW_H
#define _LINUX_OVERFLOW_H

#include <linux/compiler.h>
#include <linux/limits.h>
#include <linux/types.h>

#define check_add_overflow(a, b, result) __builtin_add_overflow(a, b, result)
#define check_sub_overflow(a, b, result) __builtin_sub_overflow(a, b, result)
#define check_mul_overflow(a, b, result) __builtin_mul_overflow(a, b, result)

#define is_signed_type(type) ((type)-1 < (type)1)
#define __type_half_max(type) ((type)1 << (8 * sizeof(type) - 1 - is_signed_type(type)))
#define type_max(type) ((type)((__type_half_max(type) - 1) + __type_half_max(type)))
#define type_min(type) ((type)((type)-type_max(type) - (type)1))
#define check_shl_overflow(a, shift, result) ({ \
	typeof(a) __kapi_a = (a); \
	typeof(shift) __kapi_shift = (shift); \
	typeof(result) __kapi_result = (result); \
	u64 __kapi_whole = (u64)__kapi_a; \
	unsigned int __kapi_by = __kapi_shift >= 0 && __kapi_shift < (int)(8 * sizeof(*__kapi_result)) ? __kapi_shift : 0; \
	*__kapi_result = (typeof(*__kapi_result))(__kapi_whole << __kapi_by); \
	__kapi_by != (unsigned int)__kapi_shift || *__kapi_result < 0 || __kapi_a < 0 || \
		(typeof(__kapi_a))(*__kapi_result >> __kapi_by) != __kapi_a; })

static inline size_t size_sub(size_t a, size_t b) { return a == SIZE_MAX || b == SIZE_MAX || b > a ? SIZE_MAX : a - b; }

static inline size_t size_mul(size_t a, size_t b)
{
	size_t result;

	return check_mul_overflow(a, b, &result) ? SIZE_MAX : result;
}

static inline size_t size_add(size_t a, size_t b)
{
	size_t result;

	return check_add_overflow(a, b, &result) ? SIZE_MAX : result;
}
#define array_size(a, b) size_mul(a, b)
#define array3_size(a, b, c) size_mul(size_mul(a, b), c)
#define flex_array_size(p, member, count) size_mul(count, sizeof(*(p)->member))
#define struct_size(p, member, count) size_add(sizeof(*(p)), flex_array_size(p, member, count))

#endif
