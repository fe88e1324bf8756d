/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Cache lines. */
#ifndef _LINUX_CACHE_H
#define _LINUX_CACHE_H

#include <linux/compiler.h>
#include <linux/kconfig.h>

#define L1_CACHE_SHIFT 6
#define L1_CACHE_BYTES (1 << L1_CACHE_SHIFT)
#define SMP_CACHE_BYTES L1_CACHE_BYTES
#define L1_CACHE_ALIGN(x) (((x) + L1_CACHE_BYTES - 1) & ~(typeof(x))(L1_CACHE_BYTES - 1))

static inline int cache_line_size(void) { return L1_CACHE_BYTES; }

#endif
