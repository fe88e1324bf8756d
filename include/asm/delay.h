/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* See <linux/delay.h>. */
#ifndef _ASM_DELAY_H
#define _ASM_DELAY_H

#include <linux/delay.h>

#endif
