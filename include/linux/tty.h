/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Terminals: no process here has one. */
#ifndef _LINUX_TTY_H
#define _LINUX_TTY_H

#include <linux/kdev_t.h>
#include <linux/sched.h>
#include <linux/version.h>

struct tty_struct;

struct tty_operations {
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 6, 0)
	ssize_t (*write)(struct tty_struct *tty, const u8 *buf, size_t count);
#else
	int (*write)(struct tty_struct *tty, const unsigned char *buf, int count);
#endif
};

struct tty_driver {
	const struct tty_operations *ops;
};

struct tty_struct {
	struct tty_driver *driver;
	const struct tty_operations *ops;
	dev_t kapi_number;
};

static inline struct tty_struct *get_current_tty(void) { return current->signal->tty; }
static inline void tty_kref_put(struct tty_struct *tty) { (void)tty; }

static inline dev_t tty_devnum(struct tty_struct *tty) { return tty->kapi_number; }

#endif
