/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Tasks: each thread of the module is one. Sleeping is set_current_state() and schedule(). */
#ifndef _LINUX_SCHED_H
#define _LINUX_SCHED_H

#include <linux/types.h>
#include <linux/atomic.h>
#include <linux/jiffies.h>
#include <linux/list.h>
#include <linux/preempt.h>
#include <linux/smp.h>
#include <linux/time.h>
#include <linux/spinlock.h>
#include <linux/mm_types.h>
#include <linux/errno.h>
#include <linux/limits.h>
#include <linux/uidgid.h>
#include <linux/version.h>
#include <asm/current.h>
#include <asm/processor.h>

#define TASK_RUNNING 0x0000
#define TASK_INTERRUPTIBLE 0x0001
#define TASK_UNINTERRUPTIBLE 0x0002
#define TASK_STOPPED 0x0004
#define TASK_TRACED 0x0008
#define EXIT_DEAD 0x0010
#define EXIT_ZOMBIE 0x0020
#define TASK_DEAD 0x0080
#define TASK_WAKEKILL 0x0100
#define TASK_NOLOAD 0x0400
#define TASK_IDLE (TASK_UNINTERRUPTIBLE | TASK_NOLOAD)
#define TASK_KILLABLE (TASK_WAKEKILL | TASK_UNINTERRUPTIBLE)
#define TASK_NORMAL (TASK_INTERRUPTIBLE | TASK_UNINTERRUPTIBLE)

#define TASK_COMM_LEN 16
#define PF_IDLE 0x00000002
#define PF_EXITING 0x00000004
#define PF_WQ_WORKER 0x00000020
#define PF_FORKNOEXEC 0x00000040
#define PF_SUPERPRIV 0x00000100
#define PF_MEMALLOC 0x00000800
#define PF_NOFREEZE 0x00008000
#define PF_MEMALLOC_NOFS 0x00040000
#define PF_MEMALLOC_NOIO 0x00080000
#define PF_KTHREAD 0x00200000
#define PF_RANDOMIZE 0x00400000
#define PF_NO_SETAFFINITY 0x04000000
#define MAX_SCHEDULE_TIMEOUT LONG_MAX
#define MAX_PRIO 140
#define DEFAULT_PRIO 120

#define MAX_NICE 19
#define MIN_NICE -20
#define SCHED_NORMAL 0
#define SCHED_FIFO 1
#define SCHED_RR 2
struct sched_param {
	int sched_priority;
};

struct cred {
	kuid_t uid, euid, suid, fsuid;
	kgid_t gid, egid, sgid, fsgid;
};

struct pid {
	int nr;
};

/* What the threads of a process share: there is one, without a terminal. */
struct tty_struct;
#define _NSIG 64
#define _NSIG_BPW 64
#define _NSIG_WORDS 1
typedef struct {
	u64 sig[_NSIG_WORDS];
} sigset_t;

struct signal_struct {
	int nr_threads;
	struct tty_struct *tty;
};

/* Before 5.14 the field is called state. */
struct kretprobe_instance;

struct task_struct {
	union {
		volatile unsigned int __state;
		volatile long state;
	};
	void *stack;
	unsigned int flags;
	unsigned int in_iowait : 1;
	int prio, static_prio, normal_prio;
	unsigned int policy;
	pid_t pid;
	pid_t tgid;
	int exit_code;
	struct task_struct *parent, *real_parent, *group_leader;
	struct list_head children, sibling, tasks;
	struct mm_struct *mm, *active_mm;
	const struct cred *cred, *real_cred;
	char comm[TASK_COMM_LEN];
	u64 start_time, utime, stime;
	unsigned long nvcsw, nivcsw;
	unsigned long min_flt, maj_flt;
	struct signal_struct *signal;
	spinlock_t alloc_lock;
	void *journal_info;
	struct kunit *kunit_test;
	/* How many warnings were not told, where none is. */
	int *kapi_warnings;
	/* Calls whose end a probe wants to see, the newest first; and whether a probe's handler runs. */
	struct kretprobe_instance *kapi_returns;
	bool kapi_in_probe;
	/* The host's part: see kthread.h */
	int (*kapi_thread)(void *data);
	void *kapi_data;
	int kapi_cpu;
	volatile unsigned int kapi_flags;
	/* A bit for each signal that came, and for each that a kernel thread wants to see. */
	union {
		volatile u64 kapi_pending;
		struct {
			sigset_t signal;
		} pending;
	};
	sigset_t blocked;
	u64 kapi_allowed;
	unsigned long kapi_segment;
	struct pid kapi_pid;
	volatile unsigned int kapi_done;
	volatile unsigned int kapi_parked;
	int kapi_result;
};

extern struct task_struct init_task;
extern void schedule(void);
extern long schedule_timeout(long timeout);
extern long schedule_timeout_interruptible(long timeout);
extern long schedule_timeout_uninterruptible(long timeout);
extern long schedule_timeout_killable(long timeout);
extern long schedule_timeout_idle(long timeout);
extern long io_schedule_timeout(long timeout);
extern void io_schedule(void);
extern void yield(void);
extern int wake_up_process(struct task_struct *task);
extern int wake_up_state(struct task_struct *task, unsigned int state);
extern struct task_struct *find_task_by_pid(pid_t pid);
extern unsigned long long sched_clock(void);
extern void kapi_cond_resched(const char *file, int line);

/* What allocations of this task may not do until it is restored; shrinkers see it in their gfp_mask. */
static inline unsigned int kapi_memalloc_save(unsigned int flag)
{
	unsigned int old = current->flags & flag;

	current->flags |= flag;
	return old;
}
static inline void kapi_memalloc_restore(unsigned int flag, unsigned int old)
{
	current->flags = (current->flags & ~flag) | old;
}
#define memalloc_noio_save() kapi_memalloc_save(PF_MEMALLOC_NOIO)
#define memalloc_noio_restore(flags) kapi_memalloc_restore(PF_MEMALLOC_NOIO, flags)
#define memalloc_nofs_save() kapi_memalloc_save(PF_MEMALLOC_NOFS)
#define memalloc_nofs_restore(flags) kapi_memalloc_restore(PF_MEMALLOC_NOFS, flags)
#define memalloc_noreclaim_save() kapi_memalloc_save(PF_MEMALLOC)
#define memalloc_noreclaim_restore(flags) kapi_memalloc_restore(PF_MEMALLOC, flags)

#define cond_resched() ({ \
	kapi_cond_resched(__FILE__, __LINE__); \
	0; })
#define cond_resched_lock(lock) 0
#define need_resched() 0
/* Signals come to the processes that use a module's files, and to threads that allow them: see signal.h. */
static inline int signal_pending(struct task_struct *task) { return READ_ONCE(task->kapi_pending) != 0; }
static inline int fatal_signal_pending(struct task_struct *task)
{
	return (READ_ONCE(task->kapi_pending) >> (9 - 1) & 1) != 0;
}
static inline int signal_pending_state(unsigned int state, struct task_struct *task)
{
	if (state & TASK_INTERRUPTIBLE)
		return signal_pending(task);
	return state & TASK_WAKEKILL ? fatal_signal_pending(task) : 0;
}
#define local_clock() sched_clock()

#define set_current_state(value) __atomic_store_n(&current->__state, (unsigned int)(value), __ATOMIC_SEQ_CST)
#define __set_current_state(value) set_current_state(value)
#define set_task_state(task, value) __atomic_store_n(&(task)->__state, (unsigned int)(value), __ATOMIC_SEQ_CST)
#define get_current_state() READ_ONCE(current->__state)
#define task_is_running(task) (READ_ONCE((task)->__state) == TASK_RUNNING)

#define get_task_struct(task) ((void)(task))
#define put_task_struct(task) ((void)(task))
#define task_pid_nr(task) ((task)->pid)
#define task_tgid_nr(task) ((task)->tgid)
#define task_pid_vnr(task) ((task)->pid)
#define task_cpu(task) ((task)->kapi_cpu)
#define task_nice(task) ((task)->static_prio - DEFAULT_PRIO)
#define task_ppid_nr(task) ((task)->real_parent->pid)
#define task_uid(task) ((task)->cred->uid)
#define task_lock(task) spin_lock(&(task)->alloc_lock)
#define task_unlock(task) spin_unlock(&(task)->alloc_lock)
#define get_task_comm(buf, task) strncpy(buf, (task)->comm, sizeof(buf))
#define next_task(task) list_entry((task)->tasks.next, struct task_struct, tasks)
#define for_each_process(task) for (task = &init_task; (task = next_task(task)) != &init_task;)
#define for_each_process_thread(process, thread) \
	for_each_process(process) \
		for (thread = process; thread; thread = NULL)
/* A process has one thread here. */
#define for_each_thread(process, thread) for (thread = process; thread; thread = NULL)
#define do_each_thread(process, thread) for_each_process(process) do { thread = process; do
#define while_each_thread(process, thread) while ((thread = NULL) != NULL); } while (0)
static inline int get_nr_threads(struct task_struct *task) { return task->signal->nr_threads; }
#define set_user_nice(task, nice) ((void)(task), (void)(nice))
#define sched_setscheduler(task, policy, param) ((void)(task), (void)(param), 0)
#define sched_set_fifo(task) ((void)(task))
#define set_cpus_allowed_ptr(task, mask) ((void)(task), (void)(mask), 0)

#define THREAD_SIZE_ORDER 2
#define THREAD_SIZE (PAGE_SIZE << THREAD_SIZE_ORDER)
#define THREAD_ALIGN THREAD_SIZE

/* Within a read-side section, which it leaves for a moment. */
#define cond_resched_rcu() ({ \
	rcu_read_unlock(); \
	cond_resched(); \
	rcu_read_lock(); })

#endif
