/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* See <linux/compiler.h>. */
#ifndef _LINUX_INSTRUCTION_POINTER_H
#define _LINUX_INSTRUCTION_POINTER_H

#include <linux/compiler.h>

#endif
