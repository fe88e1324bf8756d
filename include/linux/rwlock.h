/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* See <linux/spinlock.h>. */
#ifndef _LINUX_RWLOCK_H
#define _LINUX_RWLOCK_H

#include <linux/spinlock.h>

#endif
