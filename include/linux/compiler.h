/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What the kernel expects of the compiler: attributes, barriers, single accesses. */
#ifndef _LINUX_COMPILER_H
#define _LINUX_COMPILER_H

#include <linux/compiler_attributes.h>

#define likely(x) __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)
#define likely_notrace(x) likely(x)
#define barrier() __asm__ __volatile__("" : : : "memory")
#define barrier_data(ptr) __asm__ __volatile__("" : : "r"(ptr) : "memory")
#define OPTIMIZER_HIDE_VAR(var) __asm__("" : "=r"(var) : "0"(var))
#define RELOC_HIDE(ptr, off) ((typeof(ptr))((unsigned long)(ptr) + (off)))
#define unreachable() __builtin_unreachable()
#define data_race(expr) (expr)

#define READ_ONCE(x) (*(const volatile typeof(x) *)&(x))
#define WRITE_ONCE(x, value) (*(volatile typeof(x) *)&(x) = (value))
#define ACCESS_ONCE(x) (*(volatile typeof(x) *)&(x))
#define __READ_ONCE(x) READ_ONCE(x)

/* A member that is __private. */
#define ACCESS_PRIVATE(p, member) ((p)->member)

#define __stringify_1(x...) #x
#define __stringify(x...) __stringify_1(x)
#define ___PASTE(a, b) a##b
#define __PASTE(a, b) ___PASTE(a, b)
#define __UNIQUE_ID(prefix) __PASTE(__PASTE(__kapi_##prefix, _), __COUNTER__)

#define __same_type(a, b) __builtin_types_compatible_p(typeof(a), typeof(b))
#define __must_be_array(a) BUILD_BUG_ON_ZERO(__same_type((a), &(a)[0]))
#define compiletime_assert(condition, message) _Static_assert(condition, message)
#define __is_constexpr(x) __builtin_constant_p(x)

#define _RET_IP_ ((unsigned long)__builtin_return_address(0))
#define _THIS_IP_ ({ __label__ __kapi_here; __kapi_here: (unsigned long)&&__kapi_here; })

#endif
