/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* See <linux/smp.h>. */
#ifndef _LINUX_CPU_H
#define _LINUX_CPU_H

#include <linux/smp.h>

#endif
