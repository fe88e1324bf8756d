/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* See <linux/types.h>. */
#ifndef _ASM_PTRACE_H
#define _ASM_PTRACE_H

#include <linux/types.h>

#endif
