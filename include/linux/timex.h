/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The processor's cycle counter. */
#ifndef _LINUX_TIMEX_H
#define _LINUX_TIMEX_H

#include <linux/param.h>
#include <asm/timex.h>

#endif
