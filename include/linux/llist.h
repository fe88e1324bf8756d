/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Lists of one pointer, added to without a lock and taken off whole. */
#ifndef _LINUX_LLIST_H
#define _LINUX_LLIST_H

#include <linux/atomic.h>
#include <linux/compiler.h>
#include <linux/container_of.h>
#include <linux/stddef.h>

struct llist_node {
	struct llist_node *next;
};

struct llist_head {
	struct llist_node *first;
};

#define LLIST_HEAD_INIT(name) { NULL }
#define LLIST_HEAD(name) struct llist_head name = LLIST_HEAD_INIT(name)
#define init_llist_head(list) ((list)->first = NULL)
#define llist_entry(ptr, type, member) container_of(ptr, type, member)
#define llist_empty(head) (READ_ONCE((head)->first) == NULL)
#define llist_next(node) ((node)->next)
#define llist_for_each(pos, node) for ((pos) = (node); pos; (pos) = (pos)->next)
#define llist_for_each_safe(pos, n, node) for ((pos) = (node); (pos) && ((n) = (pos)->next, true); (pos) = (n))
#define __llist_entry_or_null(ptr, type, member) \
	({ struct llist_node *__kapi_n = (ptr); __kapi_n ? llist_entry(__kapi_n, type, member) : NULL; })
#define llist_for_each_entry(pos, node, member) \
	for ((pos) = __llist_entry_or_null(node, typeof(*(pos)), member); pos; \
	     (pos) = __llist_entry_or_null((pos)->member.next, typeof(*(pos)), member))
#define llist_for_each_entry_safe(pos, n, node, member) \
	for ((pos) = __llist_entry_or_null(node, typeof(*(pos)), member); \
	     (pos) && ((n) = __llist_entry_or_null((pos)->member.next, typeof(*(n)), member), true); \
	     (pos) = (n))

/* Return: whether the list was empty before. */
static inline bool llist_add_batch(struct llist_node *first, struct llist_node *last, struct llist_head *head)
{
	struct llist_node *old = __atomic_load_n(&head->first, __ATOMIC_RELAXED);

	do {
		last->next = old;
	} while (!__atomic_compare_exchange_n(&head->first, &old, first, false, __ATOMIC_RELEASE, __ATOMIC_RELAXED));
	return old == NULL;
}
#define llist_add(node, head) llist_add_batch(node, node, head)

static inline struct llist_node *llist_del_all(struct llist_head *head)
{
	return __atomic_exchange_n(&head->first, NULL, __ATOMIC_ACQUIRE);
}

/* Only one thread may take single nodes off at a time. */
static inline struct llist_node *llist_del_first(struct llist_head *head)
{
	struct llist_node *old = __atomic_load_n(&head->first, __ATOMIC_ACQUIRE);

	while (old && !__atomic_compare_exchange_n(&head->first, &old, old->next, false,
						   __ATOMIC_ACQUIRE, __ATOMIC_ACQUIRE))
		;
	return old;
}

static inline struct llist_node *llist_reverse_order(struct llist_node *node)
{
	struct llist_node *reversed = NULL;

	while (node) {
		struct llist_node *next = node->next;

		node->next = reversed;
		reversed = node;
		node = next;
	}
	return reversed;
}

#endif
