/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Numbers of processes: each task has one, in the only namespace. */
#ifndef _LINUX_PID_H
#define _LINUX_PID_H

#include <linux/sched.h>

enum pid_type {
	PIDTYPE_PID,
	PIDTYPE_TGID,
	PIDTYPE_PGID,
	PIDTYPE_SID
};

/* Return: NULL if there is none of that number. */
extern struct pid *find_vpid(int nr);
extern struct task_struct *pid_task(struct pid *pid, enum pid_type type);

static inline struct pid *task_pid(struct task_struct *task) { return &task->kapi_pid; }
static inline struct pid *get_task_pid(struct task_struct *task, enum pid_type type) { return task_pid(task); }
static inline struct pid *find_get_pid(int nr) { return find_vpid(nr); }
static inline struct pid *find_pid_ns(int nr, void *ns) { return find_vpid(nr); }
static inline struct pid *get_pid(struct pid *pid) { return pid; }
static inline void put_pid(struct pid *pid) {}
static inline pid_t pid_nr(struct pid *pid) { return pid ? pid->nr : 0; }
static inline pid_t pid_vnr(struct pid *pid) { return pid_nr(pid); }
static inline struct task_struct *get_pid_task(struct pid *pid, enum pid_type type) { return pid_task(pid, type); }
static inline struct task_struct *find_task_by_vpid(pid_t nr) { return pid_task(find_vpid(nr), PIDTYPE_PID); }
static inline bool pid_alive(const struct task_struct *task) { return !task->kapi_done; }

#endif
