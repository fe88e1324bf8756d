/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Interrupts, which a step of --do raises, and tasklets. */
#ifndef _LINUX_INTERRUPT_H
#define _LINUX_INTERRUPT_H

#include <linux/irqflags.h>
#include <linux/kconfig.h>
#include <linux/container_of.h>
#include <linux/list.h>
#include <linux/preempt.h>
#include <linux/atomic.h>
#include <kapi/bytes.h>

enum irqreturn {
	IRQ_NONE,
	IRQ_HANDLED,
	IRQ_WAKE_THREAD
};
typedef enum irqreturn irqreturn_t;
typedef irqreturn_t (*irq_handler_t)(int irq, void *dev);
static inline irqreturn_t IRQ_RETVAL(bool handled) { return handled ? IRQ_HANDLED : IRQ_NONE; }

#define IRQF_TRIGGER_NONE 0x00000000
#define IRQF_TRIGGER_RISING 0x00000001
#define IRQF_TRIGGER_FALLING 0x00000002
#define IRQF_TRIGGER_HIGH 0x00000004
#define IRQF_TRIGGER_LOW 0x00000008
#define IRQF_SHARED 0x00000080
#define IRQF_ONESHOT 0x00002000
#define IRQF_NO_SUSPEND 0x00004000
/* How many numbers there are. */
#define KAPI_IRQS 256

extern int request_irq(unsigned int irq, irq_handler_t handler, unsigned long flags, const char *name, void *dev);
extern int request_threaded_irq(unsigned int irq, irq_handler_t handler, irq_handler_t thread_fn, unsigned long flags,
				const char *name, void *dev);
/* Return: the name that it was requested with. */
extern const void *free_irq(unsigned int irq, void *dev);
extern void disable_irq(unsigned int irq);
extern void disable_irq_nosync(unsigned int irq);
extern void enable_irq(unsigned int irq);
extern void synchronize_irq(unsigned int irq);

/* As large as the kernel's. A callback gets the tasklet when it was set up by tasklet_setup() (since 5.9), else .data.
 *
 * @state: the bit of TASKLET_STATE_SCHED; its upper half is where it was scheduled, from the runtime's beginning on. */
struct tasklet_struct {
	struct tasklet_struct *next;
	volatile unsigned long state;
	atomic_t count;
	bool use_callback;
	void *func;
	unsigned long data;
};
KAPI_IS_LARGE(struct tasklet_struct, KAPI_TASKLET_STRUCT_BYTES);

#define __KAPI_TASKLET(fn, arg, is_new) { .func = (void *)(fn), .data = (arg), .use_callback = is_new }
#define DECLARE_TASKLET(...) KAPI_BY_COUNT(__kapi_declare_tasklet_, __VA_ARGS__)
#define __kapi_declare_tasklet_2(name, fn) struct tasklet_struct name = __KAPI_TASKLET(fn, 0, 1)
#define __kapi_declare_tasklet_3(name, fn, arg) struct tasklet_struct name = __KAPI_TASKLET(fn, arg, 0)
#define DECLARE_TASKLET_DISABLED(...) KAPI_BY_COUNT(__kapi_declare_tasklet_off_, __VA_ARGS__)
#define __kapi_declare_tasklet_off_2(name, fn) \
	struct tasklet_struct name = { .func = (void *)(fn), .use_callback = 1, .count = ATOMIC_INIT(1) }
#define __kapi_declare_tasklet_off_3(name, fn, arg) \
	struct tasklet_struct name = { .func = (void *)(fn), .data = (arg), .count = ATOMIC_INIT(1) }
#define DECLARE_TASKLET_DISABLED_OLD(name, fn) __kapi_declare_tasklet_off_3(name, fn, 0)
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
