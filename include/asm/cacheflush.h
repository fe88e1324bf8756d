/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* See <linux/mm.h>. */
#ifndef _ASM_CACHEFLUSH_H
#define _ASM_CACHEFLUSH_H

#include <linux/mm.h>

#endif
