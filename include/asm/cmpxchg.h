/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* See <linux/atomic.h>. */
#ifndef _ASM_CMPXCHG_H
#define _ASM_CMPXCHG_H

#include <linux/atomic.h>

#endif
