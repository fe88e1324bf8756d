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

/* As two's complement has it, in a type or in a variable's. */
#define wrapping_add(type, a, b) ({ \
	type __kapi_wrapped; \
	(void)__builtin_add_overflow(a, b, &__kapi_wrapped); \
	__kapi_wrapped; })
#define wrapping_sub(type, a, b) ({ \
	type __kapi_wrapped; \
	(void)__builtin_sub_overflow(a, b, &__kapi_wrapped); \
	__kapi_wrapped; })
#define wrapping_mul(type, a, b) ({ \
	type __kapi_wrapped; \
	(void)__builtin_mul_overflow(a, b, &__kapi_wrapped); \
	__kapi_wrapped; })
#define wrapping_assign_add(var, offset) ({ \
	typeof(var) *__kapi_var = &(var); \
	*__kapi_var = wrapping_add(typeof(var), *__kapi_var, offset); })
#define wrapping_assign_sub(var, offset) ({ \
	typeof(var) *__kapi_var = &(var); \
	*__kapi_var = wrapping_sub(typeof(var), *__kapi_var, offset); })

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

/* Whether a value does not fit a type, or that of a variable; the second where a constant is wanted. */
#define __overflows_type(n, T) __builtin_add_overflow(n, 0, &(typeof(T)){ 0 })
#define __overflows_type_constexpr(n, T) __builtin_add_overflow_p(n, 0, (typeof(T))0)
#define overflows_type(n, T) \
	__builtin_choose_expr(__is_constexpr(n), __overflows_type_constexpr(n, T), __overflows_type(n, T))
/* Whether it may be cast: a constant that fits, or something of the same type. */
#define castable_to_type(n, T) \
	__builtin_choose_expr(__is_constexpr(n), !__overflows_type_constexpr(n, T), __same_type(n, T))

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
/* Constants stay constants. */
#define flex_array_size(p, member, count) \
	__builtin_choose_expr(__builtin_constant_p(count), (count) * sizeof(*(p)->member), \
			      size_mul(count, sizeof(*(p)->member)))
#define struct_size(p, member, count) \
	__builtin_choose_expr(__builtin_constant_p(count), sizeof(*(p)) + flex_array_size(p, member, count), \
			      size_add(sizeof(*(p)), flex_array_size(p, member, count)))
#define struct_size_t(type, member, count) struct_size((type *)NULL, member, count)

/* Bytes that an object or a member of it has at most, as far as the compiler sees. */
#define __struct_size(p) __builtin_object_size(p, 0)
#define __member_size(p) __builtin_object_size(p, 1)
/* A structure with so many elements behind it, as a variable of the function. */
#define _DEFINE_FLEX(type, name, member, count, before...) \
	union { \
		u8 bytes[struct_size_t(type, member, count)]; \
		type obj; \
	} name##_u before; \
	type *name __maybe_unused = (type *)&name##_u
#define DEFINE_RAW_FLEX(type, name, member, count) _DEFINE_FLEX(type, name, member, count, = {})
#define DEFINE_FLEX(type, name, member, counter, count) _DEFINE_FLEX(type, name, member, count, = { .obj.counter = count })
#define STACK_FLEX_ARRAY_SIZE(name, array) (__member_size((name)->array) / sizeof(*(name)->array))

#endif
