/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* See <linux/compiler.h>. */
#ifndef _ASM_LINKAGE_H
#define _ASM_LINKAGE_H

#include <linux/compiler.h>

#endif
