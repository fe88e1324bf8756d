/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Attributes, and annotations of the kernel's own checkers, which are empty here. */
#ifndef _LINUX_COMPILER_ATTRIBUTES_H
#define _LINUX_COMPILER_ATTRIBUTES_H

#undef inline
#define __always_inline inline __attribute__((__always_inline__))
#undef noinline
#define noinline __attribute__((__noinline__))
#define noinline_for_stack noinline
#define __attribute_const__ __attribute__((__const__))
#define __pure __attribute__((__pure__))
#define __aligned(x) __attribute__((__aligned__(x)))
#define __aligned_largest __attribute__((__aligned__))
#define __packed __attribute__((__packed__))
#define __weak __attribute__((__weak__))
#define __alias(symbol) __attribute__((__alias__(#symbol)))
#define __cold __attribute__((__cold__))
#define __malloc __attribute__((__malloc__))
#define __used __attribute__((__used__))
#define __always_used __used __maybe_unused
#define __visible __attribute__((__externally_visible__))
#undef __unused
#define __maybe_unused __attribute__((__unused__))
#define __always_unused __attribute__((__unused__))
#define __attribute_used__ __used
#define __deprecated
#define __must_check __attribute__((__warn_unused_result__))
#define __noreturn __attribute__((__noreturn__))
#define __section(name) __attribute__((__section__(name)))
#define __printf(fmt, first)
#define __scanf(fmt, first)
#define __mode(x) __attribute__((__mode__(x)))
#define __cleanup(function) __attribute__((__cleanup__(function)))
#define __alloc_size(x, ...)
#define __assume_aligned(a, ...)
#define fallthrough __attribute__((__fallthrough__))
#define __flatten __attribute__((__flatten__))
#define notrace
#define asmlinkage
#define fastcall
#define FASTCALL(x) x
#define __user
#define __kernel
#define __iomem
#define __percpu
#define __rcu
#define __force
#define __nocast
#define __bitwise
#define __private
#define __safe
#define __chk_user_ptr(x) ((void)0)
#define __acquires(x)
#define __releases(x)
#define __acquire(x) ((void)0)
#define __release(x) ((void)0)
#define __must_hold(x)
#define __cond_lock(x, c) (c)
#define __counted_by(m)
#define __read_mostly
#define __ro_after_init
#define ____cacheline_aligned __aligned(64)
#define ____cacheline_aligned_in_smp __aligned(64)
#define __cacheline_aligned __aligned(64)
#define __cacheline_aligned_in_smp __aligned(64)
#define ____cacheline_internodealigned_in_smp __aligned(64)
#define __randomize_layout
#define __no_randomize_layout
#define __nonstring __attribute__((__nonstring__))
#define __designated_init
#define __no_sanitize_address
#define __nostackprotector

#endif
