/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Work queues: each is a thread that takes its works in order.
 *
 * INIT_WORK() and DECLARE_WORK() had a third argument, the function's, up to 2.6.19. */
#ifndef _LINUX_WORKQUEUE_H
#define _LINUX_WORKQUEUE_H

#include <linux/kconfig.h>
#include <linux/list.h>
#include <linux/timer.h>
#include <linux/wait.h>
#include <kapi/bytes.h>

struct workqueue_struct;
struct work_struct;
typedef void (*work_func_t)(struct work_struct *work);

/* As large as the kernel's, which keeps a queue and flags in the first word; here it has the queue's number, too. */
struct work_struct {
	volatile u16 kapi_pending;
	u16 kapi_queue;
	/* Where it was queued, from the runtime's beginning on. */
	s32 kapi_site;
	struct list_head entry;
	void *func;
#if LINUX_VERSION_CODE < KERNEL_VERSION(2, 6, 20)
	void *kapi_data;
#endif
};

struct delayed_work {
	struct work_struct work;
	struct timer_list timer;
	struct workqueue_struct *wq;
	int cpu;
};
KAPI_IS_LARGE(struct work_struct, KAPI_WORK_STRUCT_BYTES);
KAPI_IS_LARGE(struct delayed_work, KAPI_DELAYED_WORK_BYTES);

#if LINUX_VERSION_CODE < KERNEL_VERSION(2, 6, 20)
#define __KAPI_WORK(fn, arg) { .func = (void *)(fn), .kapi_data = (void *)(arg) }
#define __kapi_declare_work_3(name, fn, arg) struct work_struct name = __KAPI_WORK(fn, arg)
#define __kapi_init_work_3(ptr, fn, arg) (*(ptr) = (struct work_struct)__KAPI_WORK(fn, arg))
#else
#define __KAPI_WORK(fn, arg) { .func = (void *)(fn) }
#endif
#define DECLARE_WORK(...) KAPI_BY_COUNT(__kapi_declare_work_, __VA_ARGS__)
#define __kapi_declare_work_2(name, fn) struct work_struct name = __KAPI_WORK(fn, &name)
#define DECLARE_DELAYED_WORK(name, fn) struct delayed_work name = { .work = __KAPI_WORK(fn, &name.work) }
#define INIT_WORK(...) KAPI_BY_COUNT(__kapi_init_work_, __VA_ARGS__)
#define __kapi_init_work_2(ptr, fn) (*(ptr) = (struct work_struct)__KAPI_WORK(fn, ptr))
#define INIT_WORK_ONSTACK(ptr, fn) INIT_WORK(ptr, fn)
#define INIT_DELAYED_WORK(ptr, fn) (*(ptr) = (struct delayed_work){ .work = __KAPI_WORK(fn, &(ptr)->work) })
#define PREPARE_WORK(ptr, fn) ((ptr)->func = (void *)(fn))
#define to_delayed_work(ptr) container_of(ptr, struct delayed_work, work)

#define WQ_UNBOUND 0x02
#define WQ_FREEZABLE 0x04
#define WQ_MEM_RECLAIM 0x08
#define WQ_HIGHPRI 0x10
#define WQ_CPU_INTENSIVE 0x20
/* Its attributes are files in /sys/bus/workqueue/devices/NAME. */
#define WQ_SYSFS 0x40

extern struct workqueue_struct *kapi_system_queue(void);
#define system_wq kapi_system_queue()
#define system_long_wq kapi_system_queue()
#define system_unbound_wq kapi_system_queue()
#define system_highpri_wq kapi_system_queue()

extern struct workqueue_struct *alloc_workqueue(const char *fmt, unsigned int flags, int active, ...);
#define create_workqueue(name) alloc_workqueue("%s", 0, 1, name)
#define create_singlethread_workqueue(name) alloc_workqueue("%s", 0, 1, name)
#define alloc_ordered_workqueue(fmt, flags, ...) alloc_workqueue(fmt, flags, 1, ##__VA_ARGS__)
extern void destroy_workqueue(struct workqueue_struct *queue);
extern void flush_workqueue(struct workqueue_struct *queue);
extern bool queue_work(struct workqueue_struct *queue, struct work_struct *work);
extern bool queue_delayed_work(struct workqueue_struct *queue, struct delayed_work *work, unsigned long delay);
extern bool mod_delayed_work(struct workqueue_struct *queue, struct delayed_work *work, unsigned long delay);
extern bool flush_work(struct work_struct *work);
extern bool cancel_work_sync(struct work_struct *work);
extern bool cancel_delayed_work(struct delayed_work *work);
extern bool cancel_delayed_work_sync(struct delayed_work *work);
#define queue_work_on(cpu, queue, work) queue_work(queue, work)
#define drain_workqueue(queue) flush_workqueue(queue)
#define schedule_work(work) queue_work(system_wq, work)
#define schedule_work_on(cpu, work) queue_work(system_wq, work)
#define schedule_delayed_work(work, delay) queue_delayed_work(system_wq, work, delay)
#define flush_scheduled_work() flush_workqueue(system_wq)
#define flush_delayed_work(dwork) flush_work(&(dwork)->work)
#define work_pending(work) ((work)->kapi_pending != 0)
#define delayed_work_pending(dwork) work_pending(&(dwork)->work)

#endif
