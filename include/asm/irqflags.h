/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* See <linux/irqflags.h>. */
#ifndef _ASM_IRQFLAGS_H
#define _ASM_IRQFLAGS_H

#include <linux/irqflags.h>

#endif
