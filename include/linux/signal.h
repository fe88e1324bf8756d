/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Signals. A process that uses a module's files gets those that a step of --do or the module sends; a kernel thread
 * gets those that it allows. A signal ends interruptible sleeps, SIGKILL killable ones too; no handler is run.
 */
#ifndef _LINUX_SIGNAL_H
#define _LINUX_SIGNAL_H

#include <linux/sched.h>

#define SIGHUP 1
#define SIGINT 2
#define SIGQUIT 3
#define SIGILL 4
#define SIGTRAP 5
#define SIGABRT 6
#define SIGBUS 7
#define SIGFPE 8
#define SIGKILL 9
#define SIGUSR1 10
#define SIGSEGV 11
#define SIGUSR2 12
#define SIGPIPE 13
#define SIGALRM 14
#define SIGTERM 15
#define SIGCHLD 17
#define SIGCONT 18
#define SIGSTOP 19
#define SIGIO 29
#define SIGPOLL SIGIO
#define SIGRTMIN 32

#define SI_USER 0
#define SI_KERNEL 0x80
#define SI_QUEUE -1

union sigval {
	int sival_int;
	void __user *sival_ptr;
};
typedef union sigval sigval_t;

struct kernel_siginfo {
	int si_signo;
	int si_errno;
	int si_code;
	pid_t si_pid;
	int si_int;
	void __user *si_ptr;
};
typedef struct kernel_siginfo kernel_siginfo_t;
#define siginfo kernel_siginfo
#define SEND_SIG_NOINFO ((struct kernel_siginfo *)0)
#define SEND_SIG_PRIV ((struct kernel_siginfo *)1)

static inline void sigemptyset(sigset_t *set) { set->sig[0] = 0; }
static inline void sigfillset(sigset_t *set) { set->sig[0] = ~0ULL; }
static inline void sigaddset(sigset_t *set, int sig) { set->sig[0] |= 1ULL << (sig - 1); }
static inline void sigdelset(sigset_t *set, int sig) { set->sig[0] &= ~(1ULL << (sig - 1)); }
static inline int sigismember(const sigset_t *set, int sig) { return (int)(set->sig[0] >> (sig - 1) & 1); }

struct pid;
extern void allow_signal(int sig);
extern void disallow_signal(int sig);
extern void flush_signals(struct task_struct *task);
extern int send_sig(int sig, struct task_struct *task, int priv);
extern int send_sig_info(int sig, struct kernel_siginfo *info, struct task_struct *task);
extern void force_sig(int sig);
extern int kill_pid(struct pid *pid, int sig, int priv);
/* Takes the next signal that came; returns its number, or 0. */
extern int kernel_dequeue_signal(void);

static inline void clear_siginfo(struct kernel_siginfo *info) { *info = (struct kernel_siginfo){ 0 }; }

#endif
