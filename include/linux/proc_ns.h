/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* See <linux/proc_fs.h>. */
#ifndef _LINUX_PROC_NS_H
#define _LINUX_PROC_NS_H

#include <linux/proc_fs.h>

#endif
