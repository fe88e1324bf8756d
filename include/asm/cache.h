/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* See <linux/cache.h>. */
#ifndef _ASM_CACHE_H
#define _ASM_CACHE_H

#include <linux/cache.h>

#endif
