/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* See <linux/numa.h>. */
#ifndef _LINUX_NODEMASK_H
#define _LINUX_NODEMASK_H

#include <linux/numa.h>

#endif
