/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Sorting in place. */
#ifndef _LINUX_SORT_H
#define _LINUX_SORT_H

#include <linux/types.h>

extern void sort(void *base, size_t num, size_t size, int (*compare)(const void *, const void *),
		 void (*swap_func)(void *, void *, int size));

#endif
