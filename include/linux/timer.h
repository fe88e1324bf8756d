/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Timers: run by a thread of the host, where sleeping is forbidden.
 *
 * A callback gets the timer when it was set up by timer_setup(), and .data otherwise, which was there up to 4.14. */
#ifndef _LINUX_TIMER_H
#define _LINUX_TIMER_H

#include <linux/compiler.h>
#include <linux/jiffies.h>
#include <linux/kconfig.h>
#include <linux/list.h>
#include <linux/container_of.h>
#include <linux/version.h>
#include <kapi/bytes.h>

/* As large as the kernel's: it is armed if its entry is in a list, and what is the host's stands in flags and behind. */
struct timer_list {
	struct list_head entry;
	unsigned long expires;
	void *function;
#if LINUX_VERSION_CODE < KERNEL_VERSION(4, 15, 0)
	unsigned long data;
#endif
	u32 flags;
	/* Where it was armed, from the runtime's beginning on. */
	s32 kapi_site;
};
KAPI_IS_LARGE(struct timer_list, KAPI_TIMER_LIST_BYTES);

#define TIMER_DEFERRABLE 0x00080000
#define TIMER_PINNED 0x00100000
#define TIMER_IRQSAFE 0x00200000
#define TIMER_INIT_FLAGS (TIMER_DEFERRABLE | TIMER_PINNED | TIMER_IRQSAFE)
/* Its function gets the timer; it is the runtime's own. */
#define KAPI_TIMER_NEW 0x40000000
#define KAPI_TIMER_OWN 0x80000000

#define DEFINE_TIMER(...) KAPI_BY_COUNT(__kapi_define_timer_, __VA_ARGS__)
#define __kapi_define_timer_2(name, fn) struct timer_list name = { .function = (void *)(fn), .flags = KAPI_TIMER_NEW }
#if LINUX_VERSION_CODE < KERNEL_VERSION(4, 15, 0)
#define __kapi_define_timer_4(name, fn, when, arg) \
	struct timer_list name = { .function = (void *)(fn), .expires = (when), .data = (arg) }
#define TIMER_INITIALIZER(fn, when, arg) { .function = (void *)(fn), .expires = (when), .data = (arg) }
#define setup_timer(timer, fn, arg) \
	do { \
		init_timer(timer); \
		(timer)->function = (void *)(fn); \
		(timer)->data = (arg); \
	} while (0)
#endif

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
static inline int timer_pending(const struct timer_list *timer) { return READ_ONCE(timer->entry.next) != NULL; }
#define init_timer_deferrable(timer) init_timer(timer)
#define from_timer(var, timer, field) container_of(timer, typeof(*var), field)
/* Modules for several kernels define the names of later ones themselves. */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 16, 0)
#define timer_container_of(var, timer, field) from_timer(var, timer, field)
#endif

#define timer_setup(timer, fn, bits) \
	do { \
		void (*__kapi_fn)(struct timer_list *) = (fn); \
		init_timer(timer); \
		(timer)->function = (void *)__kapi_fn; \
		(timer)->flags = (bits) | KAPI_TIMER_NEW; \
	} while (0)
#define timer_setup_on_stack(timer, fn, bits) timer_setup(timer, fn, bits)
#define destroy_timer_on_stack(timer) ((void)(timer))
#define round_jiffies(j) (j)
#define round_jiffies_relative(j) (j)

#endif
