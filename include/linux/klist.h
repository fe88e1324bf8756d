/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Lists that are walked while entries come and go: each entry is counted, and a walk holds the one it stands on.
 *
 * An entry that is deleted is not shown any more; it leaves the list when nobody stands on it.
 *
 * Linux counterpart: include/linux/klist.h @ 6.12. Difference from Linux: whether an entry is dead is a field.
 */
#ifndef _LINUX_KLIST_H
#define _LINUX_KLIST_H

#include <linux/kref.h>
#include <linux/list.h>
#include <linux/spinlock.h>

struct klist_node;
struct klist {
	spinlock_t k_lock;
	struct list_head k_list;
	void (*get)(struct klist_node *);
	void (*put)(struct klist_node *);
};
struct klist_node {
	struct klist *n_klist;
	struct list_head n_node;
	struct kref n_ref;
	bool kapi_dead;
};
struct klist_iter {
	struct klist *i_klist;
	struct klist_node *i_cur;
};

#define KLIST_INIT(_name, _get, _put) \
	{ .k_lock = __SPIN_LOCK_UNLOCKED(_name.k_lock), .k_list = LIST_HEAD_INIT(_name.k_list), .get = _get, .put = _put }
#define DEFINE_KLIST(_name, _get, _put) struct klist _name = KLIST_INIT(_name, _get, _put)

extern void klist_init(struct klist *k, void (*get)(struct klist_node *), void (*put)(struct klist_node *));
extern void klist_add_tail(struct klist_node *n, struct klist *k);
extern void klist_add_head(struct klist_node *n, struct klist *k);
extern void klist_add_behind(struct klist_node *n, struct klist_node *pos);
extern void klist_add_before(struct klist_node *n, struct klist_node *pos);
extern void klist_del(struct klist_node *n);
extern void klist_remove(struct klist_node *n);
extern int klist_node_attached(struct klist_node *n);
extern void klist_iter_init(struct klist *k, struct klist_iter *i);
extern void klist_iter_init_node(struct klist *k, struct klist_iter *i, struct klist_node *n);
extern void klist_iter_exit(struct klist_iter *i);
extern struct klist_node *klist_prev(struct klist_iter *i);
extern struct klist_node *klist_next(struct klist_iter *i);

#endif
