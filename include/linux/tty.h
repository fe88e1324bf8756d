/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Terminals: no process here has one. */
#ifndef _LINUX_TTY_H
#define _LINUX_TTY_H

#include <linux/kdev_t.h>
#include <linux/sched.h>

struct tty_struct {
	dev_t kapi_number;
};

static inline dev_t tty_devnum(struct tty_struct *tty) { return tty->kapi_number; }

#endif
