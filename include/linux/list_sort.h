/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Stable merge sort of lists. */
#ifndef _LINUX_LIST_SORT_H
#define _LINUX_LIST_SORT_H

#include <linux/list.h>
#include <linux/version.h>

/* The compare function's lists were not const before 5.13. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(5, 13, 0)
typedef int (*list_cmp_func_t)(void *priv, struct list_head *a, struct list_head *b);
#else
typedef int (*list_cmp_func_t)(void *priv, const struct list_head *a, const struct list_head *b);
#endif

static inline void __kapi_list_sort(void *priv, struct list_head *head, list_cmp_func_t compare)
{
	unsigned long length;
	struct list_head runs;

	/* Merges neighbouring runs of 1, 2, 4, ... until one run is left. */
	for (length = 1;; length *= 2) {
		unsigned long merges = 0;

		INIT_LIST_HEAD(&runs);
		while (!list_empty(head)) {
			struct list_head left, right, *at = head;
			unsigned long i;

			INIT_LIST_HEAD(&left);
			INIT_LIST_HEAD(&right);
			for (i = 0; i < length && at->next != head; i++)
				at = at->next;
			list_cut_position(&left, head, at);
			at = head;
			for (i = 0; i < length && at->next != head; i++)
				at = at->next;
			list_cut_position(&right, head, at);
			merges++;
			while (!list_empty(&left) && !list_empty(&right)) {
				bool second = compare(priv, left.next, right.next) > 0;

				list_move_tail(second ? right.next : left.next, &runs);
			}
			list_splice_tail_init(&left, &runs);
			list_splice_tail_init(&right, &runs);
		}
		list_splice(&runs, head);
		if (merges <= 1)
			return;
	}
}
#define list_sort(priv, head, compare) __kapi_list_sort(priv, head, compare)

#endif
