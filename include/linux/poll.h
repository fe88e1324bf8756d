/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* See <linux/wait.h>. */
#ifndef _LINUX_POLL_H
#define _LINUX_POLL_H

#include <linux/wait.h>

#endif
