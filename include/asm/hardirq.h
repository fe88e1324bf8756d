/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* See <linux/preempt.h>. */
#ifndef _ASM_HARDIRQ_H
#define _ASM_HARDIRQ_H

#include <linux/preempt.h>

#endif
