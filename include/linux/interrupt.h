/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Tasklets. There are no interrupts in user space. */
#ifndef _LINUX_INTERRUPT_H
#define _LINUX_INTERRUPT_H

#include <linux/irqflags.h>
#include <linux/kconfig.h>
#include <linux/container_of.h>
#include <linux/list.h>
#include <linux/preempt.h>
#include <linux/atomic.h>

/* A callback gets the tasklet when it was set up by tasklet_setup() (since 5.9), else .data. */
struct tasklet_struct {
	struct list_head entry;
	volatile unsigned long state;
	atomic_t count;
	void *func;
	unsigned long data;
	unsigned int kapi_new;
};

#define __KAPI_TASKLET(fn, arg, is_new) { .func = (void *)(fn), .data = (arg), .kapi_new = is_new }
#define DECLARE_TASKLET(...) KAPI_BY_COUNT(__kapi_declare_tasklet_, __VA_ARGS__)
#define __kapi_declare_tasklet_2(name, fn) struct tasklet_struct name = __KAPI_TASKLET(fn, 0, 1)
#define __kapi_declare_tasklet_3(name, fn, arg) struct tasklet_struct name = __KAPI_TASKLET(fn, arg, 0)
#define DECLARE_TASKLET_OLD(name, fn) struct tasklet_struct name = __KAPI_TASKLET(fn, 0, 0)
#define tasklet_init(t, fn, arg) (*(t) = (struct tasklet_struct)__KAPI_TASKLET(fn, arg, 0))
#define tasklet_setup(t, fn) (*(t) = (struct tasklet_struct)__KAPI_TASKLET(fn, 0, 1))
#define from_tasklet(var, callback, field) container_of(callback, typeof(*var), field)

extern void tasklet_schedule(struct tasklet_struct *t);
extern void tasklet_kill(struct tasklet_struct *t);
#define tasklet_hi_schedule(t) tasklet_schedule(t)
#define tasklet_disable(t) atomic_inc(&(t)->count)
#define tasklet_enable(t) atomic_dec(&(t)->count)

#endif
