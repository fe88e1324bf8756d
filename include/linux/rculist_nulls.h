/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Chains that end with a number, for readers without a lock whose entries may be reused at once (SLAB_TYPESAFE_BY_RCU).
 *
 * A reader that comes to an end with another number than its chain's was led away by an entry that moved, and looks
 * again; one that finds an entry takes a reference and looks whether it is still the one it wanted.
 *
 * Linux counterpart: include/linux/rculist_nulls.h @ 6.12; hlist_nulls_replace_rcu() @ 7.3.
 */
#ifndef _LINUX_RCULIST_NULLS_H
#define _LINUX_RCULIST_NULLS_H

#include <linux/list_nulls.h>
#include <linux/rcupdate.h>

#define hlist_nulls_first_rcu(head) (*(struct hlist_nulls_node **)&(head)->first)
#define hlist_nulls_next_rcu(node) (*(struct hlist_nulls_node **)&(node)->next)
#define hlist_nulls_pprev_rcu(node) (*(node)->pprev)

/* The next pointer stays: readers may stand on the entry. */
static inline void hlist_nulls_del_rcu(struct hlist_nulls_node *node) { hlist_nulls_del(node); }

static inline void hlist_nulls_del_init_rcu(struct hlist_nulls_node *node)
{
	if (!hlist_nulls_unhashed(node)) {
		__hlist_nulls_del(node);
		WRITE_ONCE(node->pprev, NULL);
	}
}

static inline void hlist_nulls_add_head_rcu(struct hlist_nulls_node *node, struct hlist_nulls_head *head)
{
	kapi_nulls_put(node, &head->first);
}

static inline void hlist_nulls_add_tail_rcu(struct hlist_nulls_node *node, struct hlist_nulls_head *head)
{
	struct hlist_nulls_node **place = &head->first;

	while (!is_a_nulls(*place))
		place = &(*place)->next;
	kapi_nulls_put(node, place);
}

/* So that it counts as hashed, in no chain. */
static inline void hlist_nulls_add_fake(struct hlist_nulls_node *node)
{
	node->pprev = &node->next;
	node->next = (struct hlist_nulls_node *)NULLS_MARKER(NULL);
}

static inline void hlist_nulls_replace_rcu(struct hlist_nulls_node *old, struct hlist_nulls_node *node)
{
	struct hlist_nulls_node *next = old->next;

	node->next = next;
	WRITE_ONCE(node->pprev, old->pprev);
	rcu_assign_pointer(*node->pprev, node);
	if (!is_a_nulls(next))
		WRITE_ONCE(next->pprev, &node->next);
}

static inline void hlist_nulls_replace_init_rcu(struct hlist_nulls_node *old, struct hlist_nulls_node *node)
{
	hlist_nulls_replace_rcu(old, node);
	WRITE_ONCE(old->pprev, NULL);
}

#define hlist_nulls_for_each_entry_rcu(tpos, pos, head, member) \
	for (pos = rcu_dereference(hlist_nulls_first_rcu(head)); \
	     !is_a_nulls(pos) && ({ tpos = hlist_nulls_entry(pos, typeof(*tpos), member); 1; }); \
	     pos = rcu_dereference(hlist_nulls_next_rcu(pos)))
/* The entry may be taken off on the way. */
#define hlist_nulls_for_each_entry_safe(tpos, pos, head, member) \
	for (pos = rcu_dereference(hlist_nulls_first_rcu(head)); \
	     !is_a_nulls(pos) && \
	     ({ tpos = hlist_nulls_entry(pos, typeof(*tpos), member); \
		pos = rcu_dereference(hlist_nulls_next_rcu(pos)); 1; });)

#endif
