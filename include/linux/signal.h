/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Signals: none is ever pending here. */
#ifndef _LINUX_SIGNAL_H
#define _LINUX_SIGNAL_H

#include <linux/sched.h>

#define SIGHUP 1
#define SIGINT 2
#define SIGKILL 9
#define SIGUSR1 10
#define SIGUSR2 12
#define SIGTERM 15
#define SIGSTOP 19
#define allow_signal(sig) ((void)(sig))
#define disallow_signal(sig) ((void)(sig))

#endif
