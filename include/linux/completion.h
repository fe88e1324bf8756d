/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Waiting until something is done. */
#ifndef _LINUX_COMPLETION_H
#define _LINUX_COMPLETION_H

#include <linux/wait.h>

struct completion {
	unsigned int done;
	wait_queue_head_t wait;
};

#define COMPLETION_INITIALIZER(work) { 0, __WAIT_QUEUE_HEAD_INITIALIZER((work).wait) }
#define DECLARE_COMPLETION(work) struct completion work = COMPLETION_INITIALIZER(work)
#define DECLARE_COMPLETION_ONSTACK(work) DECLARE_COMPLETION(work)

static inline void init_completion(struct completion *x)
{
	x->done = 0;
	init_waitqueue_head(&x->wait);
}

static inline void reinit_completion(struct completion *x) { x->done = 0; }
#define INIT_COMPLETION(x) ((x).done = 0)

extern void wait_for_completion(struct completion *x);
extern int wait_for_completion_interruptible(struct completion *x);
extern int wait_for_completion_killable(struct completion *x);
extern unsigned long wait_for_completion_timeout(struct completion *x, unsigned long timeout);
extern long wait_for_completion_interruptible_timeout(struct completion *x, unsigned long timeout);
extern bool try_wait_for_completion(struct completion *x);
extern bool completion_done(struct completion *x);
extern void complete(struct completion *x);
extern void complete_all(struct completion *x);
extern void complete_and_exit(struct completion *x, long code) __noreturn;
#define kthread_complete_and_exit(x, code) complete_and_exit(x, code)
extern void do_exit(long code) __noreturn;
#define kthread_exit(code) do_exit(code)

#endif
