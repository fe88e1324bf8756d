// SPDX-License-Identifier: MIT OR Apache-2.0
// Lists of counted entries.
#include <linux/klist.h>
#include <linux/wait.h>

/* Woken when an entry has left its list. */
static DECLARE_WAIT_QUEUE_HEAD(left_list);

void klist_init(struct klist *k, void (*get)(struct klist_node *), void (*put)(struct klist_node *))
{
	spin_lock_init(&k->k_lock);
	INIT_LIST_HEAD(&k->k_list);
	k->get = get;
	k->put = put;
}

/* Enters an entry behind a place of the list. */
static void enter(struct klist_node *n, struct klist *k, struct list_head *behind)
{
	INIT_LIST_HEAD(&n->n_node);
	kref_init(&n->n_ref);
	n->kapi_dead = false;
	n->n_klist = k;
	if (k->get)
		k->get(n);
	spin_lock(&k->k_lock);
	list_add(&n->n_node, behind ?: k->k_list.prev);
	spin_unlock(&k->k_lock);
}

void klist_add_tail(struct klist_node *n, struct klist *k) { enter(n, k, NULL); }
void klist_add_head(struct klist_node *n, struct klist *k) { enter(n, k, &k->k_list); }
void klist_add_behind(struct klist_node *n, struct klist_node *pos) { enter(n, pos->n_klist, &pos->n_node); }
void klist_add_before(struct klist_node *n, struct klist_node *pos) { enter(n, pos->n_klist, pos->n_node.prev); }
int klist_node_attached(struct klist_node *n) { return READ_ONCE(n->n_klist) != NULL; }

static void leave(struct kref *ref)
{
	struct klist_node *n = container_of(ref, struct klist_node, n_ref);

	list_del(&n->n_node);
	smp_store_release(&n->n_klist, NULL);
}

/* Gives a reference back, under the list's lock; returns whether the entry has left, for gone(). */
static bool drop(struct klist_node *n) { return kref_put(&n->n_ref, leave); }

static void gone(struct klist *k, struct klist_node *n)
{
	if (k->put)
		k->put(n);
	wake_up_all(&left_list);
}

void klist_del(struct klist_node *n)
{
	struct klist *k = n->n_klist;
	bool last;

	spin_lock(&k->k_lock);
	WARN_ON(n->kapi_dead);
	n->kapi_dead = true;
	last = drop(n);
	spin_unlock(&k->k_lock);
	if (last)
		gone(k, n);
}

void klist_remove(struct klist_node *n)
{
	klist_del(n);
	wait_event(left_list, !klist_node_attached(n));
}

void klist_iter_init_node(struct klist *k, struct klist_iter *i, struct klist_node *n)
{
	i->i_klist = k;
	i->i_cur = n && kref_get_unless_zero(&n->n_ref) ? n : NULL;
}

void klist_iter_init(struct klist *k, struct klist_iter *i) { klist_iter_init_node(k, i, NULL); }

void klist_iter_exit(struct klist_iter *i)
{
	struct klist_node *n = i->i_cur;
	bool last;

	if (!n)
		return;
	i->i_cur = NULL;
	spin_lock(&i->i_klist->k_lock);
	last = drop(n);
	spin_unlock(&i->i_klist->k_lock);
	if (last)
		gone(i->i_klist, n);
}

static struct klist_node *step(struct klist_iter *i, bool forwards)
{
	struct klist_node *from = i->i_cur, *to = NULL;
	struct klist *k = i->i_klist;
	struct list_head *at = from ? &from->n_node : &k->k_list;
	bool last;

	spin_lock(&k->k_lock);
	while (!to && (at = forwards ? at->next : at->prev) != &k->k_list) {
		struct klist_node *n = list_entry(at, struct klist_node, n_node);

		if (!n->kapi_dead) {
			kref_get(&n->n_ref);
			to = n;
		}
	}
	last = from && drop(from);
	spin_unlock(&k->k_lock);
	if (last)
		gone(k, from);
	return i->i_cur = to;
}

struct klist_node *klist_next(struct klist_iter *i) { return step(i, true); }
struct klist_node *klist_prev(struct klist_iter *i) { return step(i, false); }
