/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Kernel threads: real threads of the host. */
#ifndef _LINUX_KTHREAD_H
#define _LINUX_KTHREAD_H

#include <linux/err.h>
#include <linux/sched.h>

extern struct task_struct *kthread_create_on_node(int (*threadfn)(void *data), void *data, int node,
						  const char *namefmt, ...);
extern int kthread_stop(struct task_struct *task);
extern bool kthread_should_stop(void);
extern bool kthread_should_park(void);
extern void kthread_parkme(void);
extern int kthread_park(struct task_struct *task);
extern void kthread_unpark(struct task_struct *task);
extern void kthread_bind(struct task_struct *task, unsigned int cpu);
extern void *kthread_data(struct task_struct *task);
extern int kernel_thread(int (*fn)(void *), void *arg, unsigned long flags);
extern void daemonize(const char *name, ...);

#define kthread_create(threadfn, data, namefmt, ...) kthread_create_on_node(threadfn, data, -1, namefmt, ##__VA_ARGS__)
#define kthread_run(threadfn, data, namefmt, ...) ({ \
	struct task_struct *__kapi_task = kthread_create(threadfn, data, namefmt, ##__VA_ARGS__); \
	if (!IS_ERR(__kapi_task)) \
		wake_up_process(__kapi_task); \
	__kapi_task; })

extern struct task_struct *kthread_create_on_cpu(int (*threadfn)(void *data), void *data,
						 unsigned int cpu, const char *namefmt);

static inline struct task_struct *kthread_run_on_cpu(int (*threadfn)(void *data), void *data, unsigned int cpu,
						     const char *namefmt)
{
	struct task_struct *task = kthread_create_on_cpu(threadfn, data, cpu, namefmt);

	if (!IS_ERR(task))
		wake_up_process(task);
	return task;
}

#define CLONE_FS 0x00000200
#define CLONE_FILES 0x00000400
#define CLONE_SIGHAND 0x00000800
#define CLONE_VM 0x00000100
#define CLONE_KERNEL (CLONE_FS | CLONE_FILES | CLONE_SIGHAND)

#endif
