/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Hints to the caches. */
#ifndef _LINUX_PREFETCH_H
#define _LINUX_PREFETCH_H

#include <linux/types.h>

#define prefetch(x) __builtin_prefetch(x)
#define prefetchw(x) __builtin_prefetch(x, 1)
#define ARCH_HAS_PREFETCH
#define PREFETCH_STRIDE 256

#endif
