/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Lists that readers walk without a lock. */
#ifndef _LINUX_RCULIST_H
#define _LINUX_RCULIST_H

#include <linux/list.h>
#include <linux/rcupdate.h>
#include <linux/version.h>

#define list_next_rcu(list) ((list)->next)
#define hlist_first_rcu(head) ((head)->first)
#define hlist_next_rcu(node) ((node)->next)
#define hlist_pprev_rcu(node) (*(node)->pprev)

static inline void __list_add_rcu(struct list_head *entry, struct list_head *prev, struct list_head *next)
{
	entry->next = next;
	entry->prev = prev;
	rcu_assign_pointer(prev->next, entry);
	next->prev = entry;
}

static inline void list_add_rcu(struct list_head *entry, struct list_head *head)
{
	__list_add_rcu(entry, head, head->next);
}

static inline void list_add_tail_rcu(struct list_head *entry, struct list_head *head)
{
	__list_add_rcu(entry, head->prev, head);
}

/* The next pointer stays: readers may stand on the entry. */
static inline void list_del_rcu(struct list_head *entry)
{
	__list_del_entry(entry);
	entry->prev = LIST_POISON2;
}

static inline void list_replace_rcu(struct list_head *old, struct list_head *entry)
{
	entry->next = old->next;
	entry->prev = old->prev;
	rcu_assign_pointer(entry->prev->next, entry);
	entry->next->prev = entry;
	old->prev = LIST_POISON2;
}

static inline void hlist_del_rcu(struct hlist_node *node)
{
	__hlist_del(node);
	node->pprev = LIST_POISON2;
}

static inline void hlist_replace_rcu(struct hlist_node *old, struct hlist_node *node)
{
	node->next = old->next;
	node->pprev = old->pprev;
	rcu_assign_pointer(*node->pprev, node);
	if (node->next)
		node->next->pprev = &node->next;
	old->pprev = LIST_POISON2;
}

static inline void hlist_del_init_rcu(struct hlist_node *node)
{
	if (!hlist_unhashed(node)) {
		__hlist_del(node);
		node->pprev = NULL;
	}
}

static inline void hlist_add_head_rcu(struct hlist_node *node, struct hlist_head *head)
{
	struct hlist_node *first = head->first;

	node->next = first;
	node->pprev = &head->first;
	rcu_assign_pointer(head->first, node);
	if (first)
		first->pprev = &node->next;
}

static inline void hlist_add_behind_rcu(struct hlist_node *node, struct hlist_node *prev)
{
	node->next = prev->next;
	node->pprev = &prev->next;
	rcu_assign_pointer(prev->next, node);
	if (node->next)
		node->next->pprev = &node->next;
}

#define list_entry_rcu(ptr, type, member) container_of(rcu_dereference(ptr), type, member)
#define list_first_or_null_rcu(ptr, type, member) ({ \
	struct list_head *__kapi_head = (ptr); \
	struct list_head *__kapi_first = rcu_dereference(__kapi_head->next); \
	__kapi_head != __kapi_first ? list_entry(__kapi_first, type, member) : NULL; })
#define list_for_each_entry_rcu(pos, head, member, cond...) \
	for (pos = list_entry_rcu((head)->next, typeof(*pos), member); &pos->member != (head); \
	     pos = list_entry_rcu(pos->member.next, typeof(*pos), member))
#define list_for_each_rcu(pos, head) \
	for (pos = rcu_dereference((head)->next); pos != (head); pos = rcu_dereference(pos->next))
#define list_for_each_entry_continue_rcu(pos, head, member) \
	for (pos = list_entry_rcu(pos->member.next, typeof(*pos), member); &pos->member != (head); \
	     pos = list_entry_rcu(pos->member.next, typeof(*pos), member))

/* hlist_for_each_entry_rcu(pos, head, member[, cond]); before 3.9 (tpos, pos, head, member) */
#define hlist_for_each_entry_rcu(...) KAPI_BY_COUNT(__kapi_hlist_each_rcu_, __VA_ARGS__)
#define __kapi_hlist_each_rcu_3(pos, head, member) \
	for (pos = hlist_entry_safe(rcu_dereference((head)->first), typeof(*(pos)), member); pos; \
	     pos = hlist_entry_safe(rcu_dereference((pos)->member.next), typeof(*(pos)), member))
#if LINUX_VERSION_CODE < KERNEL_VERSION(3, 9, 0)
#define __kapi_hlist_each_rcu_4(tpos, pos, head, member) \
	for (pos = rcu_dereference((head)->first); \
	     pos && ({ tpos = hlist_entry(pos, typeof(*tpos), member); 1; }); \
	     pos = rcu_dereference(pos->next))
#else
#define __kapi_hlist_each_rcu_4(pos, head, member, cond) __kapi_hlist_each_rcu_3(pos, head, member)
#endif

#endif
