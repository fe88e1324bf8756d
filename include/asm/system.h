/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* See <linux/spinlock.h>. */
#ifndef _ASM_SYSTEM_H
#define _ASM_SYSTEM_H

#include <linux/spinlock.h>

#endif
