/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Binary search in a sorted array. */
#ifndef _LINUX_BSEARCH_H
#define _LINUX_BSEARCH_H

#include <linux/types.h>

static inline void *bsearch(const void *key, const void *base, size_t num, size_t size,
			    int (*compare)(const void *key, const void *element))
{
	const char *at = base;

	while (num) {
		const char *middle = at + num / 2 * size;
		int order = compare(key, middle);

		if (!order)
			return (void *)middle;
		if (order > 0) {
			at = middle + size;
			num--;
		}
		num /= 2;
	}
	return NULL;
}

#endif
