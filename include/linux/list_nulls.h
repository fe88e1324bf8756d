/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Chains of a table that end with a number, not with NULL: so a reader without a lock sees that it was led into
 * another chain.
 *
 * The end is an odd word, twice the number and 1; no entry lies at an odd address.
 *
 * Linux counterpart: include/linux/list_nulls.h @ 2.6.29.
 */
#ifndef _LINUX_LIST_NULLS_H
#define _LINUX_LIST_NULLS_H

#include <linux/compiler.h>
#include <linux/container_of.h>
#include <linux/poison.h>
#include <linux/types.h>

struct hlist_nulls_node {
	struct hlist_nulls_node *next, **pprev;
};
struct hlist_nulls_head {
	struct hlist_nulls_node *first;
};

#define NULLS_MARKER(value) (1UL | ((unsigned long)(value) << 1))
#define INIT_HLIST_NULLS_HEAD(head, value) ((head)->first = (struct hlist_nulls_node *)NULLS_MARKER(value))
#define HLIST_NULLS_HEAD_INIT(value) { .first = (struct hlist_nulls_node *)NULLS_MARKER(value) }
#define hlist_nulls_entry(ptr, type, member) container_of(ptr, type, member)
#define hlist_nulls_entry_safe(ptr, type, member) ({ \
	typeof(ptr) __kapi_node = (ptr); \
	!is_a_nulls(__kapi_node) ? hlist_nulls_entry(__kapi_node, type, member) : NULL; })

static inline int is_a_nulls(const struct hlist_nulls_node *ptr) { return (unsigned long)ptr & 1; }
static inline unsigned long get_nulls_value(const struct hlist_nulls_node *ptr) { return (unsigned long)ptr >> 1; }
static inline int hlist_nulls_unhashed(const struct hlist_nulls_node *node) { return !node->pprev; }
static inline int hlist_nulls_unhashed_lockless(const struct hlist_nulls_node *node) { return !READ_ONCE(node->pprev); }
static inline int hlist_nulls_empty(const struct hlist_nulls_head *head) { return is_a_nulls(READ_ONCE(head->first)); }

static inline void kapi_nulls_put(struct hlist_nulls_node *node, struct hlist_nulls_node **place)
{
	struct hlist_nulls_node *next = *place;

	node->next = next;
	WRITE_ONCE(node->pprev, place);
	if (!is_a_nulls(next))
		WRITE_ONCE(next->pprev, &node->next);
	/* Readers without a lock see the entry as it is. */
	__atomic_store_n(place, node, __ATOMIC_RELEASE);
}

static inline void hlist_nulls_add_head(struct hlist_nulls_node *node, struct hlist_nulls_head *head)
{
	kapi_nulls_put(node, &head->first);
}

static inline void __hlist_nulls_del(struct hlist_nulls_node *node)
{
	struct hlist_nulls_node *next = node->next, **place = node->pprev;

	WRITE_ONCE(*place, next);
	if (!is_a_nulls(next))
		WRITE_ONCE(next->pprev, place);
}

static inline void hlist_nulls_del(struct hlist_nulls_node *node)
{
	__hlist_nulls_del(node);
	WRITE_ONCE(node->pprev, LIST_POISON2);
}

#define hlist_nulls_for_each_entry_from(tpos, pos, member) \
	for (; !is_a_nulls(pos) && ({ tpos = hlist_nulls_entry(pos, typeof(*tpos), member); 1; }); pos = (pos)->next)
#define hlist_nulls_for_each_entry(tpos, pos, head, member) \
	for (pos = (head)->first; \
	     !is_a_nulls(pos) && ({ tpos = hlist_nulls_entry(pos, typeof(*tpos), member); 1; }); \
	     pos = (pos)->next)

#endif
