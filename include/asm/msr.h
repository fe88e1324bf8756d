/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The time stamp counter, under each of its names. Other registers cannot be read from user space. */
#ifndef _ASM_MSR_H
#define _ASM_MSR_H

#include <linux/compiler.h>
#include <linux/kconfig.h>
#include <linux/types.h>

static __always_inline unsigned long long __kapi_rdtsc(void)
{
#if defined(__x86_64__)
	unsigned int low, high;

	__asm__ __volatile__("rdtsc" : "=a"(low), "=d"(high));
	return (unsigned long long)high << 32 | low;
#elif defined(__aarch64__)
	unsigned long long count;

	__asm__ __volatile__("isb; mrs %0, cntvct_el0" : "=r"(count));
	return count;
#else
#error "no cycle counter is known for this machine"
#endif
}

/* Not before what stands before it has been done. */
static __always_inline unsigned long long rdtsc_ordered(void)
{
#if defined(__x86_64__)
	__asm__ __volatile__("lfence" : : : "memory");
#endif
	return __kapi_rdtsc();
}

/* rdtsc() since 4.3; rdtsc(low, high) before. */
#define rdtsc(...) KAPI_JOIN(__kapi_rdtsc_, KAPI_ARGS(__VA_ARGS__))(__VA_ARGS__)
#define __kapi_rdtsc_0() __kapi_rdtsc()
#define __kapi_rdtsc_2(low, high) \
	do { \
		unsigned long long __kapi_tsc = __kapi_rdtsc(); \
		(low) = (typeof(low))__kapi_tsc; \
		(high) = (typeof(high))(__kapi_tsc >> 32); \
	} while (0)
#define rdtscl(low) ((low) = (typeof(low))(unsigned int)__kapi_rdtsc())
#define rdtscll(value) ((value) = __kapi_rdtsc())
#define native_read_tsc() __kapi_rdtsc()
#define __native_read_tsc() __kapi_rdtsc()
#define native_read_tscp(aux) (*(aux) = 0, rdtsc_ordered())
#define rdtsc_barrier() ((void)__kapi_fence())
#define __kapi_fence() ({ __atomic_thread_fence(__ATOMIC_SEQ_CST); 0; })

#endif
