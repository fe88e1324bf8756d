/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Atomic integers. What returns a value orders memory both ways; what does not, does not. */
#ifndef _LINUX_ATOMIC_H
#define _LINUX_ATOMIC_H

#include <linux/types.h>
#include <linux/compiler.h>
#include <asm/barrier.h>

/* The forms that order memory less than fully: all are as strong as the plain one. */
#define __KAPI_ATOMIC_ORDERS(value, what, of, ...) \
	static __always_inline value what##_acquire of { return what(__VA_ARGS__); } \
	static __always_inline value what##_release of { return what(__VA_ARGS__); } \
	static __always_inline value what##_relaxed of { return what(__VA_ARGS__); }

/* An operation: as it is, and with the new or the old value as result. */
#define __KAPI_ATOMIC_FETCH(name, type, value, op, builtin, operand) \
	static __always_inline void name##_##op(value i, type *v) \
	{ \
		__atomic_fetch_##builtin(&v->counter, operand, __ATOMIC_RELAXED); \
	} \
	static __always_inline value name##_fetch_##op(value i, type *v) \
	{ \
		return __atomic_fetch_##builtin(&v->counter, operand, __ATOMIC_SEQ_CST); \
	} \
	__KAPI_ATOMIC_ORDERS(value, name##_fetch_##op, (value i, type *v), i, v)
#define __KAPI_ATOMIC_OP(name, type, value, op) \
	__KAPI_ATOMIC_FETCH(name, type, value, op, op, i) \
	static __always_inline value name##_##op##_return(value i, type *v) \
	{ \
		return __atomic_##op##_fetch(&v->counter, i, __ATOMIC_SEQ_CST); \
	} \
	__KAPI_ATOMIC_ORDERS(value, name##_##op##_return, (value i, type *v), i, v)

/* One body for atomic_t (int) and atomic64_t (s64). */
#define __KAPI_ATOMIC(name, type, value) \
	static __always_inline value name##_read(const type *v) \
	{ \
		return __atomic_load_n(&v->counter, __ATOMIC_RELAXED); \
	} \
	static __always_inline value name##_read_acquire(const type *v) \
	{ \
		return __atomic_load_n(&v->counter, __ATOMIC_ACQUIRE); \
	} \
	static __always_inline void name##_set(type *v, value i) \
	{ \
		__atomic_store_n(&v->counter, i, __ATOMIC_RELAXED); \
	} \
	static __always_inline void name##_set_release(type *v, value i) \
	{ \
		__atomic_store_n(&v->counter, i, __ATOMIC_RELEASE); \
	} \
	static __always_inline value name##_xchg(type *v, value i) \
	{ \
		return __atomic_exchange_n(&v->counter, i, __ATOMIC_SEQ_CST); \
	} \
	static __always_inline bool name##_try_cmpxchg(type *v, value *old, value i) \
	{ \
		return __atomic_compare_exchange_n(&v->counter, old, i, 0, __ATOMIC_SEQ_CST, \
						   __ATOMIC_RELAXED); \
	} \
	static __always_inline value name##_cmpxchg(type *v, value old, value i) \
	{ \
		name##_try_cmpxchg(v, &old, i); \
		return old; \
	} \
	static __always_inline value name##_fetch_add_unless(type *v, value a, value u) \
	{ \
		value old = name##_read(v); \
		while (old != u && !name##_try_cmpxchg(v, &old, old + a)) \
			; \
		return old; \
	} \
	static __always_inline value name##_dec_if_positive(type *v) \
	{ \
		value old = name##_read(v); \
		while (old > 0 && !name##_try_cmpxchg(v, &old, old - 1)) \
			; \
		return old - 1; \
	} \
	__KAPI_ATOMIC_OP(name, type, value, add) \
	__KAPI_ATOMIC_OP(name, type, value, sub) \
	__KAPI_ATOMIC_OP(name, type, value, and) \
	__KAPI_ATOMIC_OP(name, type, value, or) \
	__KAPI_ATOMIC_OP(name, type, value, xor) \
	__KAPI_ATOMIC_FETCH(name, type, value, andnot, and, ~i) \
	__KAPI_ATOMIC_ORDERS(value, name##_xchg, (type *v, value i), v, i) \
	__KAPI_ATOMIC_ORDERS(value, name##_cmpxchg, (type *v, value old, value i), v, old, i) \
	__KAPI_ATOMIC_ORDERS(bool, name##_try_cmpxchg, (type *v, value *old, value i), v, old, i) \
	static __always_inline value name##_inc_return(type *v) { return name##_add_return(1, v); } \
	static __always_inline value name##_dec_return(type *v) { return name##_sub_return(1, v); } \
	__KAPI_ATOMIC_ORDERS(value, name##_inc_return, (type *v), v) \
	__KAPI_ATOMIC_ORDERS(value, name##_dec_return, (type *v), v)

__KAPI_ATOMIC(atomic, atomic_t, int)
__KAPI_ATOMIC(atomic64, atomic64_t, s64)

#define atomic_inc(v) atomic_add(1, v)
#define atomic_dec(v) atomic_sub(1, v)
#define atomic_fetch_inc(v) atomic_fetch_add(1, v)
#define atomic_fetch_dec(v) atomic_fetch_sub(1, v)
#define atomic_inc_and_test(v) (atomic_inc_return(v) == 0)
#define atomic_dec_and_test(v) (atomic_dec_return(v) == 0)
#define atomic_sub_and_test(i, v) (atomic_sub_return(i, v) == 0)
#define atomic_add_negative(i, v) (atomic_add_return(i, v) < 0)
#define atomic_add_unless(v, a, u) (atomic_fetch_add_unless(v, a, u) != (u))
#define atomic_inc_not_zero(v) atomic_add_unless(v, 1, 0)

#define atomic64_inc(v) atomic64_add(1, v)
#define atomic64_dec(v) atomic64_sub(1, v)
#define atomic64_fetch_inc(v) atomic64_fetch_add(1, v)
#define atomic64_fetch_dec(v) atomic64_fetch_sub(1, v)
#define atomic64_inc_and_test(v) (atomic64_inc_return(v) == 0)
#define atomic64_dec_and_test(v) (atomic64_dec_return(v) == 0)
#define atomic64_sub_and_test(i, v) (atomic64_sub_return(i, v) == 0)
#define atomic64_add_negative(i, v) (atomic64_add_return(i, v) < 0)
#define atomic64_add_unless(v, a, u) (atomic64_fetch_add_unless(v, a, u) != (u))
#define atomic64_inc_not_zero(v) atomic64_add_unless(v, 1, 0)

#define atomic_long_read(...) atomic64_read(__VA_ARGS__)
#define atomic_long_set(...) atomic64_set(__VA_ARGS__)
#define atomic_long_add(...) atomic64_add(__VA_ARGS__)
#define atomic_long_sub(...) atomic64_sub(__VA_ARGS__)
#define atomic_long_inc(...) atomic64_inc(__VA_ARGS__)
#define atomic_long_dec(...) atomic64_dec(__VA_ARGS__)
#define atomic_long_xchg(...) atomic64_xchg(__VA_ARGS__)
#define atomic_long_cmpxchg(...) atomic64_cmpxchg(__VA_ARGS__)
#define atomic_long_add_return(...) atomic64_add_return(__VA_ARGS__)
#define atomic_long_sub_return(...) atomic64_sub_return(__VA_ARGS__)
#define atomic_long_inc_return(...) atomic64_inc_return(__VA_ARGS__)
#define atomic_long_dec_return(...) atomic64_dec_return(__VA_ARGS__)
#define atomic_long_fetch_add(...) atomic64_fetch_add(__VA_ARGS__)
#define atomic_long_fetch_sub(...) atomic64_fetch_sub(__VA_ARGS__)
#define atomic_long_inc_and_test(...) atomic64_inc_and_test(__VA_ARGS__)
#define atomic_long_dec_and_test(...) atomic64_dec_and_test(__VA_ARGS__)
#define atomic_long_sub_and_test(...) atomic64_sub_and_test(__VA_ARGS__)
#define atomic_long_add_unless(...) atomic64_add_unless(__VA_ARGS__)
#define atomic_long_inc_not_zero(...) atomic64_inc_not_zero(__VA_ARGS__)

#define atomic_set_mask(mask, v) atomic_or(mask, v)
#define atomic_clear_mask(mask, v) atomic_and(~(mask), v)

#define xchg(ptr, value) __atomic_exchange_n(ptr, value, __ATOMIC_SEQ_CST)
#define cmpxchg(ptr, old, value) ({ \
	typeof(*(ptr)) __kapi_expected = (old); \
	__atomic_compare_exchange_n(ptr, &__kapi_expected, value, 0, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED); \
	__kapi_expected; })
#define cmpxchg_relaxed(ptr, old, value) cmpxchg(ptr, old, value)
#define cmpxchg64(ptr, old, value) cmpxchg(ptr, old, value)
#define try_cmpxchg(ptr, oldp, value) \
	__atomic_compare_exchange_n(ptr, oldp, value, 0, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED)

#endif
