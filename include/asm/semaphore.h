/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* See <linux/semaphore.h>. */
#ifndef _ASM_SEMAPHORE_H
#define _ASM_SEMAPHORE_H

#include <linux/semaphore.h>

#endif
