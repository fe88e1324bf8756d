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
