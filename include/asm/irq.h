/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* See <linux/interrupt.h>. */
#ifndef _ASM_IRQ_H
#define _ASM_IRQ_H

#include <linux/interrupt.h>

#endif
