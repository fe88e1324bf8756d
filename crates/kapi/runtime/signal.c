// SPDX-License-Identifier: MIT OR Apache-2.0
// Signals: bits of a task, and the end of its sleep.
#include "host.h"
#include <linux/kernel.h>
#include <linux/pid.h>
#include <linux/sched.h>
#include <linux/signal.h>

#define BIT_OF(sig) (1ULL << ((sig) - 1))

/* Which signals a task looks at: a process all, a kernel thread those that it allows. */
static bool takes(struct task_struct *task, int sig)
{
	return !(task->flags & PF_KTHREAD) || (task->kapi_allowed & BIT_OF(sig));
}

int send_sig(int sig, struct task_struct *task, int priv)
{
	if (sig < 0 || sig > 64)
		return -EINVAL;
	if (!sig || !takes(task, sig))
		return 0;
	__atomic_fetch_or(&task->kapi_pending, BIT_OF(sig), __ATOMIC_SEQ_CST);
	wake_up_state(task, TASK_INTERRUPTIBLE | (sig == SIGKILL ? TASK_WAKEKILL : 0));
	return 0;
}

int send_sig_info(int sig, struct kernel_siginfo *info, struct task_struct *task) { return send_sig(sig, task, 0); }
void force_sig(int sig) { send_sig(sig, current, 1); }

int kill_pid(struct pid *pid, int sig, int priv)
{
	struct task_struct *task = pid_task(pid, PIDTYPE_PID);

	return task ? send_sig(sig, task, priv) : -ESRCH;
}

void allow_signal(int sig) { current->kapi_allowed |= BIT_OF(sig); }
void disallow_signal(int sig) { current->kapi_allowed &= ~BIT_OF(sig); }
void flush_signals(struct task_struct *task) { __atomic_store_n(&task->kapi_pending, 0, __ATOMIC_SEQ_CST); }

int kernel_dequeue_signal(void)
{
	u64 pending = READ_ONCE(current->kapi_pending);
	int sig = pending ? __builtin_ctzll(pending) + 1 : 0;

	if (sig)
		__atomic_fetch_and(&current->kapi_pending, ~BIT_OF(sig), __ATOMIC_SEQ_CST);
	return sig;
}
