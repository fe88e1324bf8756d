/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Queues of packets' buffers: a part of <linux/skbuff.h>, which includes it. */
#ifndef _KAPI_SKB_QUEUE_H
#define _KAPI_SKB_QUEUE_H

#include <linux/list.h>

static inline void __skb_queue_head_init(struct sk_buff_head *queue)
{
	queue->prev = queue->next = (struct sk_buff *)queue;
	queue->qlen = 0;
}
static inline void skb_queue_head_init(struct sk_buff_head *queue)
{
	spin_lock_init(&queue->lock);
	__skb_queue_head_init(queue);
}
static inline u32 skb_queue_len(const struct sk_buff_head *queue) { return queue->qlen; }
static inline u32 skb_queue_len_lockless(const struct sk_buff_head *queue) { return READ_ONCE(queue->qlen); }
static inline int skb_queue_empty(const struct sk_buff_head *queue) { return queue->next == (struct sk_buff *)queue; }
static inline bool skb_queue_empty_lockless(const struct sk_buff_head *queue)
{
	return READ_ONCE(queue->next) == (struct sk_buff *)queue;
}
static inline bool skb_queue_is_last(const struct sk_buff_head *queue, const struct sk_buff *skb)
{
	return skb->next == (struct sk_buff *)queue;
}
static inline struct sk_buff *skb_peek(const struct sk_buff_head *queue)
{
	return skb_queue_empty(queue) ? NULL : queue->next;
}
static inline struct sk_buff *skb_peek_tail(const struct sk_buff_head *queue)
{
	return skb_queue_empty(queue) ? NULL : queue->prev;
}
static inline void __skb_insert(struct sk_buff *skb, struct sk_buff *prev, struct sk_buff *next, struct sk_buff_head *queue)
{
	WRITE_ONCE(skb->next, next);
	WRITE_ONCE(skb->prev, prev);
	WRITE_ONCE(next->prev, skb);
	WRITE_ONCE(prev->next, skb);
	WRITE_ONCE(queue->qlen, queue->qlen + 1);
}
static inline void __skb_queue_head(struct sk_buff_head *queue, struct sk_buff *skb)
{
	__skb_insert(skb, (struct sk_buff *)queue, queue->next, queue);
}
static inline void __skb_queue_tail(struct sk_buff_head *queue, struct sk_buff *skb)
{
	__skb_insert(skb, queue->prev, (struct sk_buff *)queue, queue);
}
static inline void __skb_queue_after(struct sk_buff_head *queue, struct sk_buff *prev, struct sk_buff *skb)
{
	__skb_insert(skb, prev, prev->next, queue);
}
static inline void __skb_unlink(struct sk_buff *skb, struct sk_buff_head *queue)
{
	struct sk_buff *next = skb->next, *prev = skb->prev;

	WRITE_ONCE(queue->qlen, queue->qlen - 1);
	skb->next = skb->prev = NULL;
	WRITE_ONCE(next->prev, prev);
	WRITE_ONCE(prev->next, next);
}
static inline struct sk_buff *__skb_dequeue(struct sk_buff_head *queue)
{
	struct sk_buff *skb = skb_peek(queue);

	if (skb)
		__skb_unlink(skb, queue);
	return skb;
}
static inline struct sk_buff *__skb_dequeue_tail(struct sk_buff_head *queue)
{
	struct sk_buff *skb = skb_peek_tail(queue);

	if (skb)
		__skb_unlink(skb, queue);
	return skb;
}
static inline void __skb_queue_purge(struct sk_buff_head *queue)
{
	struct sk_buff *skb;

	while ((skb = __skb_dequeue(queue)))
		kfree_skb(skb);
}
extern void skb_queue_splice_tail_init(struct sk_buff_head *list, struct sk_buff_head *queue);

/* With the queue's lock. */
extern void skb_queue_head(struct sk_buff_head *queue, struct sk_buff *skb);
extern void skb_queue_tail(struct sk_buff_head *queue, struct sk_buff *skb);
extern void skb_append(struct sk_buff *prev, struct sk_buff *skb, struct sk_buff_head *queue);
extern void skb_unlink(struct sk_buff *skb, struct sk_buff_head *queue);
extern struct sk_buff *skb_dequeue(struct sk_buff_head *queue);
extern struct sk_buff *skb_dequeue_tail(struct sk_buff_head *queue);
extern void skb_queue_purge(struct sk_buff_head *queue);

#define skb_queue_walk(queue, skb) \
	for (skb = (queue)->next; skb != (struct sk_buff *)(queue); skb = skb->next)
#define skb_queue_walk_safe(queue, skb, tmp) \
	for (skb = (queue)->next, tmp = skb->next; skb != (struct sk_buff *)(queue); skb = tmp, tmp = skb->next)
#define skb_queue_reverse_walk(queue, skb) \
	for (skb = (queue)->prev; skb != (struct sk_buff *)(queue); skb = skb->prev)
#define skb_queue_walk_from(queue, skb) for (; skb != (struct sk_buff *)(queue); skb = skb->next)
#define skb_walk_frags(skb, iter) for (iter = skb_shinfo(skb)->frag_list; iter; iter = iter->next)
#define skb_list_walk_safe(first, skb, next_skb) \
	for (skb = (first), next_skb = (skb) ? (skb)->next : NULL; skb; skb = next_skb, next_skb = (skb) ? (skb)->next : NULL)

static inline bool skb_queue_is_first(const struct sk_buff_head *queue, const struct sk_buff *skb)
{
	return skb->prev == (struct sk_buff *)queue;
}
static inline struct sk_buff *skb_queue_next(const struct sk_buff_head *queue, const struct sk_buff *skb) { return skb->next; }
static inline struct sk_buff *skb_queue_prev(const struct sk_buff_head *queue, const struct sk_buff *skb) { return skb->prev; }
static inline struct sk_buff *skb_peek_next(struct sk_buff *skb, const struct sk_buff_head *queue)
{
	return skb_queue_is_last(queue, skb) ? NULL : skb->next;
}
static inline void __skb_queue_before(struct sk_buff_head *queue, struct sk_buff *next, struct sk_buff *skb)
{
	__skb_insert(skb, next->prev, next, queue);
}
/* Moves all of a list, which stays as it is, or is empty then; no lock is taken. */
static inline void skb_queue_splice_tail(struct sk_buff_head *list, struct sk_buff_head *queue)
{
	struct sk_buff *first = list->next, *last = list->prev, *end = queue->prev;

	if (skb_queue_empty(list))
		return;
	first->prev = end;
	end->next = first;
	last->next = (struct sk_buff *)queue;
	queue->prev = last;
	queue->qlen += list->qlen;
}
static inline void skb_queue_splice(struct sk_buff_head *list, struct sk_buff_head *queue)
{
	struct sk_buff *first = list->next, *last = list->prev, *begin = queue->next;

	if (skb_queue_empty(list))
		return;
	first->prev = (struct sk_buff *)queue;
	queue->next = first;
	last->next = begin;
	begin->prev = last;
	queue->qlen += list->qlen;
}
static inline void skb_queue_splice_init(struct sk_buff_head *list, struct sk_buff_head *queue)
{
	skb_queue_splice(list, queue);
	__skb_queue_head_init(list);
}
/* Chains without a head. */
static inline void skb_mark_not_on_list(struct sk_buff *skb) { skb->next = NULL; }
static inline void skb_list_del_init(struct sk_buff *skb)
{
	__list_del_entry(&skb->list);
	skb_mark_not_on_list(skb);
}

#endif
