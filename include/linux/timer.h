/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Timers: run by a thread of the host, where sleeping is forbidden.
 *
 * A callback gets the timer when it was set up by timer_setup() (since 4.15), and .data otherwise. */
#ifndef _LINUX_TIMER_H
#define _LINUX_TIMER_H

#include <linux/jiffies.h>
#include <linux/kconfig.h>
#include <linux/list.h>
#include <linux/container_of.h>
#include <linux/version.h>

struct timer_list {
	struct list_head entry;
	unsigned long expires;
	void *function;
	u32 flags;
	unsigned long data;
	unsigned int kapi_new;
	volatile unsigned int kapi_pending;
	unsigned long kapi_site;
};

#define TIMER_DEFERRABLE 0x00080000
#define TIMER_PINNED 0x00100000
#define TIMER_IRQSAFE 0x00200000

#define DEFINE_TIMER(...) KAPI_BY_COUNT(__kapi_define_timer_, __VA_ARGS__)
#define __kapi_define_timer_2(name, fn) struct timer_list name = { .function = (void *)(fn), .kapi_new = 1 }
#define __kapi_define_timer_4(name, fn, when, arg) \
	struct timer_list name = { .function = (void *)(fn), .expires = (when), .data = (arg) }
#define TIMER_INITIALIZER(fn, when, arg) { .function = (void *)(fn), .expires = (when), .data = (arg) }

extern void init_timer(struct timer_list *timer);
extern void add_timer(struct timer_list *timer);
extern void add_timer_on(struct timer_list *timer, int cpu);
extern int mod_timer(struct timer_list *timer, unsigned long expires);
extern int del_timer(struct timer_list *timer);
extern int del_timer_sync(struct timer_list *timer);
extern int try_to_del_timer_sync(struct timer_list *timer);
extern int timer_delete(struct timer_list *timer);
extern int timer_delete_sync(struct timer_list *timer);
extern int timer_delete_sync_try(struct timer_list *timer);
extern int timer_shutdown(struct timer_list *timer);
extern int timer_shutdown_sync(struct timer_list *timer);
extern int timer_reduce(struct timer_list *timer, unsigned long expires);
#define mod_timer_pending(timer, when) (timer_pending(timer) ? mod_timer(timer, when) : 0)
#define timer_pending(timer) ((timer)->kapi_pending != 0)
#define init_timer_deferrable(timer) init_timer(timer)
#define from_timer(var, timer, field) container_of(timer, typeof(*var), field)
/* Modules for several kernels define the names of later ones themselves. */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 16, 0)
#define timer_container_of(var, timer, field) from_timer(var, timer, field)
#endif

#define setup_timer(timer, fn, arg) \
	do { \
		init_timer(timer); \
		(timer)->function = (void *)(fn); \
		(timer)->data = (arg); \
	} while (0)
#define timer_setup(timer, fn, flags) \
	do { \
		void (*__kapi_fn)(struct timer_list *) = (fn); \
		init_timer(timer); \
		(timer)->function = (void *)__kapi_fn; \
		(timer)->kapi_new = 1; \
	} while (0)
#define timer_setup_on_stack(timer, fn, flags) timer_setup(timer, fn, flags)
#define destroy_timer_on_stack(timer) ((void)(timer))
#define round_jiffies(j) (j)
#define round_jiffies_relative(j) (j)

#endif
