/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* A copy for each CPU of the machine.
 *
 * What has a name, and what alloc_percpu() returns, is an address in a template that nobody reads;
 * CPU c's copy lies kapi_percpu_delta + c * kapi_percpu_unit bytes behind it. */
#ifndef _LINUX_PERCPU_H
#define _LINUX_PERCPU_H

#include <linux/cpumask.h>
#include <linux/preempt.h>
#include <linux/slab.h>
#include <linux/smp.h>

extern unsigned long kapi_percpu_delta;
extern unsigned long kapi_percpu_unit;
extern void *__alloc_percpu(size_t size, size_t align);
extern void free_percpu(void *p);

#define __KAPI_PERCPU __attribute__((__section__("kapi_percpu")))
#define DEFINE_PER_CPU(type, name) __KAPI_PERCPU typeof(type) name
#define DECLARE_PER_CPU(type, name) extern typeof(type) name
#define DEFINE_PER_CPU_SHARED_ALIGNED(type, name) DEFINE_PER_CPU(type, name) ____cacheline_aligned
#define DEFINE_PER_CPU_ALIGNED(type, name) DEFINE_PER_CPU(type, name) ____cacheline_aligned
#define DEFINE_PER_CPU_READ_MOSTLY(type, name) DEFINE_PER_CPU(type, name)
#define DEFINE_PER_CPU_FIRST(type, name) DEFINE_PER_CPU(type, name)
#define DECLARE_PER_CPU_ALIGNED(type, name) DECLARE_PER_CPU(type, name)
#define DECLARE_PER_CPU_SHARED_ALIGNED(type, name) DECLARE_PER_CPU(type, name)
#define DECLARE_PER_CPU_READ_MOSTLY(type, name) DECLARE_PER_CPU(type, name)
#define EXPORT_PER_CPU_SYMBOL(name)
#define EXPORT_PER_CPU_SYMBOL_GPL(name)

#define per_cpu_ptr(ptr, cpu) ((typeof(ptr))((unsigned long)(ptr) + kapi_percpu_delta + \
	(unsigned long)(cpu) * kapi_percpu_unit))
#define per_cpu(name, cpu) (*per_cpu_ptr(&(name), cpu))
#define raw_cpu_ptr(ptr) per_cpu_ptr(ptr, smp_processor_id())
#define this_cpu_ptr(ptr) raw_cpu_ptr(ptr)
#define __get_cpu_var(name) (*this_cpu_ptr(&(name)))
#define get_cpu_var(name) (*({ \
	preempt_disable(); \
	this_cpu_ptr(&(name)); }))
#define put_cpu_var(name) preempt_enable()
#define get_cpu_ptr(ptr) ({ \
	preempt_disable(); \
	this_cpu_ptr(ptr); })
#define put_cpu_ptr(ptr) preempt_enable()

#define alloc_percpu(type) ((typeof(type) *)__alloc_percpu(sizeof(type), __alignof__(type)))
#define alloc_percpu_gfp(type, gfp) alloc_percpu(type)

#define this_cpu_read(name) READ_ONCE(*this_cpu_ptr(&(name)))
#define this_cpu_write(name, v) WRITE_ONCE(*this_cpu_ptr(&(name)), v)
#define this_cpu_add(name, v) ((void)__atomic_fetch_add(this_cpu_ptr(&(name)), v, __ATOMIC_RELAXED))
/* Of the variable's type before the sign changes: an unsigned int is no small negative long. */
#define this_cpu_sub(name, v) this_cpu_add(name, -(typeof(name))(v))
#define this_cpu_inc(name) this_cpu_add(name, 1)
#define this_cpu_dec(name) this_cpu_add(name, -1)
#define this_cpu_inc_return(name) __atomic_add_fetch(this_cpu_ptr(&(name)), 1, __ATOMIC_RELAXED)
#define this_cpu_add_return(name, v) __atomic_add_fetch(this_cpu_ptr(&(name)), v, __ATOMIC_RELAXED)
#define this_cpu_sub_return(name, v) this_cpu_add_return(name, -(typeof(name))(v))
#define this_cpu_dec_return(name) this_cpu_add_return(name, -1)
#define __this_cpu_sub(name, v) this_cpu_sub(name, v)
#define __this_cpu_add_return(name, v) this_cpu_add_return(name, v)
#define __this_cpu_inc_return(name) this_cpu_inc_return(name)
#define __this_cpu_sub_return(name, v) this_cpu_sub_return(name, v)
#define __this_cpu_read(name) this_cpu_read(name)
#define __this_cpu_write(name, v) this_cpu_write(name, v)
#define __this_cpu_add(name, v) this_cpu_add(name, v)
#define __this_cpu_inc(name) this_cpu_inc(name)
#define __this_cpu_dec(name) this_cpu_dec(name)

#endif
