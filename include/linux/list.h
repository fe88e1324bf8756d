/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Circular doubly linked lists, and hash chains whose head is one pointer.
 *
 * hlist_for_each_entry() and its _safe form lost an argument in 3.9: both forms are understood,
 * by their number of arguments. */
#ifndef _LINUX_LIST_H
#define _LINUX_LIST_H

#include <linux/container_of.h>
#include <linux/types.h>
#include <linux/stddef.h>
#include <linux/poison.h>
#include <linux/compiler.h>
#include <linux/kconfig.h>
#include <linux/prefetch.h>

#define LIST_HEAD_INIT(name) { &(name), &(name) }
#define LIST_HEAD(name) struct list_head name = LIST_HEAD_INIT(name)

static inline void INIT_LIST_HEAD(struct list_head *list)
{
	list->next = list;
	list->prev = list;
}

static inline void __list_add(struct list_head *entry, struct list_head *prev, struct list_head *next)
{
	next->prev = entry;
	entry->next = next;
	entry->prev = prev;
	WRITE_ONCE(prev->next, entry);
}

static inline void list_add(struct list_head *entry, struct list_head *head) { __list_add(entry, head, head->next); }

static inline void list_add_tail(struct list_head *entry, struct list_head *head)
{
	__list_add(entry, head->prev, head);
}

static inline void __list_del(struct list_head *prev, struct list_head *next)
{
	next->prev = prev;
	WRITE_ONCE(prev->next, next);
}

static inline void __list_del_entry(struct list_head *entry) { __list_del(entry->prev, entry->next); }

static inline void list_del(struct list_head *entry)
{
	__list_del_entry(entry);
	entry->next = LIST_POISON1;
	entry->prev = LIST_POISON2;
}

static inline void list_del_init(struct list_head *entry)
{
	__list_del_entry(entry);
	INIT_LIST_HEAD(entry);
}

/* Beside list_empty_careful() of another thread. */
static inline void list_del_init_careful(struct list_head *entry)
{
	__list_del_entry(entry);
	WRITE_ONCE(entry->prev, entry);
	__atomic_store_n(&entry->next, entry, __ATOMIC_RELEASE);
}

static inline void list_replace(struct list_head *old, struct list_head *entry)
{
	entry->next = old->next;
	entry->next->prev = entry;
	entry->prev = old->prev;
	entry->prev->next = entry;
}

static inline void list_replace_init(struct list_head *old, struct list_head *entry)
{
	list_replace(old, entry);
	INIT_LIST_HEAD(old);
}

static inline void list_swap(struct list_head *a, struct list_head *b)
{
	struct list_head *before_b = b->prev;

	list_del(b);
	list_replace(a, b);
	if (before_b == a)
		before_b = b;
	list_add(a, before_b);
}

static inline void list_move(struct list_head *entry, struct list_head *head)
{
	__list_del_entry(entry);
	list_add(entry, head);
}

static inline void list_move_tail(struct list_head *entry, struct list_head *head)
{
	__list_del_entry(entry);
	list_add_tail(entry, head);
}

/* Moves the entries from @first to @last. */
static inline void list_bulk_move_tail(struct list_head *head, struct list_head *first, struct list_head *last)
{
	__list_del(first->prev, last->next);
	head->prev->next = first;
	first->prev = head->prev;
	last->next = head;
	head->prev = last;
}

static inline int list_is_first(const struct list_head *entry, const struct list_head *head)
{
	return entry->prev == head;
}

static inline int list_is_last(const struct list_head *entry, const struct list_head *head)
{
	return entry->next == head;
}

static inline int list_is_head(const struct list_head *entry, const struct list_head *head) { return entry == head; }
static inline int list_empty(const struct list_head *head) { return READ_ONCE(head->next) == head; }

static inline int list_empty_careful(const struct list_head *head)
{
	struct list_head *next = READ_ONCE(head->next);

	return next == head && next == head->prev;
}

static inline int list_is_singular(const struct list_head *head)
{
	return !list_empty(head) && head->next == head->prev;
}

static inline void list_rotate_left(struct list_head *head)
{
	if (!list_empty(head))
		list_move_tail(head->next, head);
}

static inline void list_rotate_to_front(struct list_head *entry, struct list_head *head)
{
	list_move_tail(head, entry);
}

static inline void __list_splice(const struct list_head *list, struct list_head *prev, struct list_head *next)
{
	list->next->prev = prev;
	prev->next = list->next;
	list->prev->next = next;
	next->prev = list->prev;
}

static inline void list_splice(const struct list_head *list, struct list_head *head)
{
	if (!list_empty(list))
		__list_splice(list, head, head->next);
}

static inline void list_splice_tail(struct list_head *list, struct list_head *head)
{
	if (!list_empty(list))
		__list_splice(list, head->prev, head);
}

static inline void list_splice_init(struct list_head *list, struct list_head *head)
{
	list_splice(list, head);
	INIT_LIST_HEAD(list);
}

static inline void list_splice_tail_init(struct list_head *list, struct list_head *head)
{
	list_splice_tail(list, head);
	INIT_LIST_HEAD(list);
}

static inline void list_cut_position(struct list_head *list, struct list_head *head, struct list_head *entry)
{
	struct list_head *rest = entry->next;

	if (list_empty(head) || entry == head) {
		INIT_LIST_HEAD(list);
		return;
	}
	list->next = head->next;
	list->next->prev = list;
	list->prev = entry;
	entry->next = list;
	head->next = rest;
	rest->prev = head;
}

static inline void list_cut_before(struct list_head *list, struct list_head *head, struct list_head *entry)
{
	if (head->next == entry)
		INIT_LIST_HEAD(list);
	else
		list_cut_position(list, head, entry->prev);
}

static inline size_t list_count_nodes(struct list_head *head)
{
	struct list_head *pos;
	size_t count = 0;

	for (pos = head->next; pos != head; pos = pos->next)
		count++;
	return count;
}

#define list_entry(ptr, type, member) container_of(ptr, type, member)
#define list_first_entry(ptr, type, member) list_entry((ptr)->next, type, member)
#define list_last_entry(ptr, type, member) list_entry((ptr)->prev, type, member)
#define list_first_entry_or_null(ptr, type, member) (!list_empty(ptr) ? list_first_entry(ptr, type, member) : NULL)
#define list_next_entry(pos, member) list_entry((pos)->member.next, typeof(*(pos)), member)
#define list_prev_entry(pos, member) list_entry((pos)->member.prev, typeof(*(pos)), member)
#define list_entry_is_head(pos, head, member) (&(pos)->member == (head))

#define list_for_each(pos, head) for (pos = (head)->next; pos != (head); pos = pos->next)
#define __list_for_each(pos, head) list_for_each(pos, head)
#define list_for_each_continue(pos, head) for (pos = pos->next; pos != (head); pos = pos->next)
#define list_for_each_prev(pos, head) for (pos = (head)->prev; pos != (head); pos = pos->prev)
#define list_for_each_safe(pos, n, head) for (pos = (head)->next, n = pos->next; pos != (head); pos = n, n = pos->next)
#define list_for_each_prev_safe(pos, n, head) \
	for (pos = (head)->prev, n = pos->prev; pos != (head); pos = n, n = pos->prev)

#define list_for_each_entry(pos, head, member) \
	for (pos = list_first_entry(head, typeof(*pos), member); \
	     !list_entry_is_head(pos, head, member); pos = list_next_entry(pos, member))
#define list_for_each_entry_reverse(pos, head, member) \
	for (pos = list_last_entry(head, typeof(*pos), member); \
	     !list_entry_is_head(pos, head, member); pos = list_prev_entry(pos, member))
#define list_prepare_entry(pos, head, member) ((pos) ?: list_entry(head, typeof(*pos), member))
#define list_for_each_entry_continue(pos, head, member) \
	for (pos = list_next_entry(pos, member); !list_entry_is_head(pos, head, member); \
	     pos = list_next_entry(pos, member))
#define list_for_each_entry_continue_reverse(pos, head, member) \
	for (pos = list_prev_entry(pos, member); !list_entry_is_head(pos, head, member); \
	     pos = list_prev_entry(pos, member))
#define list_for_each_entry_from(pos, head, member) \
	for (; !list_entry_is_head(pos, head, member); pos = list_next_entry(pos, member))
#define list_for_each_entry_safe(pos, n, head, member) \
	for (pos = list_first_entry(head, typeof(*pos), member), n = list_next_entry(pos, member); \
	     !list_entry_is_head(pos, head, member); pos = n, n = list_next_entry(n, member))
#define list_for_each_entry_safe_continue(pos, n, head, member) \
	for (pos = list_next_entry(pos, member), n = list_next_entry(pos, member); \
	     !list_entry_is_head(pos, head, member); pos = n, n = list_next_entry(n, member))
#define list_for_each_entry_safe_from(pos, n, head, member) \
	for (n = list_next_entry(pos, member); !list_entry_is_head(pos, head, member); \
	     pos = n, n = list_next_entry(n, member))
#define list_for_each_entry_safe_reverse(pos, n, head, member) \
	for (pos = list_last_entry(head, typeof(*pos), member), n = list_prev_entry(pos, member); \
	     !list_entry_is_head(pos, head, member); pos = n, n = list_prev_entry(n, member))

#define HLIST_HEAD_INIT { .first = NULL }
#define HLIST_HEAD(name) struct hlist_head name = HLIST_HEAD_INIT
#define INIT_HLIST_HEAD(ptr) ((ptr)->first = NULL)

static inline void INIT_HLIST_NODE(struct hlist_node *node)
{
	node->next = NULL;
	node->pprev = NULL;
}

static inline int hlist_unhashed(const struct hlist_node *node) { return !node->pprev; }
static inline int hlist_empty(const struct hlist_head *head) { return !READ_ONCE(head->first); }

static inline void __hlist_del(struct hlist_node *node)
{
	struct hlist_node *next = node->next;
	struct hlist_node **pprev = node->pprev;

	WRITE_ONCE(*pprev, next);
	if (next)
		next->pprev = pprev;
}

static inline void hlist_del(struct hlist_node *node)
{
	__hlist_del(node);
	node->next = LIST_POISON1;
	node->pprev = LIST_POISON2;
}

static inline void hlist_del_init(struct hlist_node *node)
{
	if (!hlist_unhashed(node)) {
		__hlist_del(node);
		INIT_HLIST_NODE(node);
	}
}

static inline void hlist_add_head(struct hlist_node *node, struct hlist_head *head)
{
	struct hlist_node *first = head->first;

	node->next = first;
	if (first)
		first->pprev = &node->next;
	WRITE_ONCE(head->first, node);
	node->pprev = &head->first;
}

static inline void hlist_add_before(struct hlist_node *node, struct hlist_node *next)
{
	node->pprev = next->pprev;
	node->next = next;
	next->pprev = &node->next;
	WRITE_ONCE(*node->pprev, node);
}

static inline void hlist_add_behind(struct hlist_node *node, struct hlist_node *prev)
{
	node->next = prev->next;
	WRITE_ONCE(prev->next, node);
	node->pprev = &prev->next;
	if (node->next)
		node->next->pprev = &node->next;
}

/* Before 3.17, with the arguments the other way round. */
static inline void hlist_add_after(struct hlist_node *prev, struct hlist_node *node) { hlist_add_behind(node, prev); }
static inline void hlist_add_fake(struct hlist_node *node) { node->pprev = &node->next; }

static inline void hlist_move_list(struct hlist_head *old, struct hlist_head *head)
{
	head->first = old->first;
	if (head->first)
		head->first->pprev = &head->first;
	old->first = NULL;
}

#define hlist_entry(ptr, type, member) container_of(ptr, type, member)
#define hlist_entry_safe(ptr, type, member) ({ \
	typeof(ptr) __kapi_node = (ptr); \
	__kapi_node ? hlist_entry(__kapi_node, type, member) : NULL; })
#define hlist_unhashed_lockless(node) (!READ_ONCE((node)->pprev))
#define hlist_fake(node) ((node)->pprev == &(node)->next)
#define hlist_is_singular_node(node, head) (!(node)->next && (node)->pprev == &(head)->first)
#define hlist_for_each(pos, head) for (pos = (head)->first; pos; pos = pos->next)
#define hlist_for_each_safe(pos, n, head) for (pos = (head)->first; pos && ({ n = pos->next; 1; }); pos = n)

/* hlist_for_each_entry([tpos,] pos, head, member): with tpos before 3.9 */
#define hlist_for_each_entry(...) KAPI_BY_COUNT(__kapi_hlist_each_, __VA_ARGS__)
#define __kapi_hlist_each_3(pos, head, member) \
	for (pos = hlist_entry_safe((head)->first, typeof(*(pos)), member); pos; \
	     pos = hlist_entry_safe((pos)->member.next, typeof(*(pos)), member))
#define __kapi_hlist_each_4(tpos, pos, head, member) \
	for (pos = (head)->first; \
	     pos && ({ prefetch(pos->next); 1; }) && \
	     ({ tpos = hlist_entry(pos, typeof(*tpos), member); 1; }); \
	     pos = pos->next)

/* hlist_for_each_entry_safe([tpos,] pos, n, head, member) */
#define hlist_for_each_entry_safe(...) KAPI_BY_COUNT(__kapi_hlist_each_safe_, __VA_ARGS__)
#define __kapi_hlist_each_safe_4(pos, n, head, member) \
	for (pos = hlist_entry_safe((head)->first, typeof(*(pos)), member); \
	     pos && ({ n = (pos)->member.next; 1; }); \
	     pos = hlist_entry_safe(n, typeof(*(pos)), member))
#define __kapi_hlist_each_safe_5(tpos, pos, n, head, member) \
	for (pos = (head)->first; \
	     pos && ({ n = pos->next; 1; }) && \
	     ({ tpos = hlist_entry(pos, typeof(*tpos), member); 1; }); \
	     pos = n)

/* hlist_for_each_entry_continue/_from([tpos,] pos, member) */
#define hlist_for_each_entry_continue(...) KAPI_BY_COUNT(__kapi_hlist_continue_, __VA_ARGS__)
#define __kapi_hlist_continue_2(pos, member) \
	for (pos = hlist_entry_safe((pos)->member.next, typeof(*(pos)), member); pos; \
	     pos = hlist_entry_safe((pos)->member.next, typeof(*(pos)), member))
#define __kapi_hlist_continue_3(tpos, pos, member) \
	for (pos = (pos)->next; pos && ({ tpos = hlist_entry(pos, typeof(*tpos), member); 1; }); \
	     pos = pos->next)
#define hlist_for_each_entry_from(...) KAPI_BY_COUNT(__kapi_hlist_from_, __VA_ARGS__)
#define __kapi_hlist_from_2(pos, member) for (; pos; pos = hlist_entry_safe((pos)->member.next, typeof(*(pos)), member))
#define __kapi_hlist_from_3(tpos, pos, member) \
	for (; pos && ({ tpos = hlist_entry(pos, typeof(*tpos), member); 1; }); pos = pos->next)

#endif
