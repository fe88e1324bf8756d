/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* See <linux/irqflags.h>. */
#ifndef _LINUX_BH_H
#define _LINUX_BH_H

#include <linux/irqflags.h>

#endif
