/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* See <linux/bug.h>. */
#ifndef _ASM_BUG_H
#define _ASM_BUG_H

#include <linux/bug.h>

#endif
