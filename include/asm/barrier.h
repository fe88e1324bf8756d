/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Memory barriers. */
#ifndef _ASM_BARRIER_H
#define _ASM_BARRIER_H

#include <linux/compiler.h>

#define mb() __atomic_thread_fence(__ATOMIC_SEQ_CST)
#define rmb() __atomic_thread_fence(__ATOMIC_ACQUIRE)
#define wmb() __atomic_thread_fence(__ATOMIC_RELEASE)
#define smp_mb() mb()
#define smp_rmb() rmb()
#define smp_wmb() wmb()
#define dma_rmb() rmb()
#define dma_wmb() wmb()
#define dma_mb() mb()
#define smp_read_barrier_depends() barrier()
#define read_barrier_depends() barrier()
#define smp_mb__before_atomic() mb()
#define smp_mb__after_atomic() mb()
#define smp_mb__after_spinlock() mb()
#define smp_store_mb(var, value) __atomic_store_n(&(var), value, __ATOMIC_SEQ_CST)
#define set_mb(var, value) smp_store_mb(var, value)
#define smp_load_acquire(p) __atomic_load_n(p, __ATOMIC_ACQUIRE)
#define smp_store_release(p, v) __atomic_store_n(p, v, __ATOMIC_RELEASE)

#endif
