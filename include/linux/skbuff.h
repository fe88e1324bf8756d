/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Packets' buffers as far as memory goes: a head of fixed size and data beside it, from the caches that the kernel has
 * for them.
 *
 * How it works: heads come from `skbuff_head_cache`, heads that will be cloned as pairs from `skbuff_fclone_cache`; data
 * is kmalloc's, since 6.3 small data comes from `skbuff_small_head`. Behind the data lies struct skb_shared_info, which
 * counts the heads that share it. The caches are made when the first buffer is asked for.
 *
 *   head <= data <= tail <= end: headroom, data, tailroom
 *
 * Linux counterpart: include/linux/skbuff.h @ 6.1 to 7.3. Differences from Linux: no devices, sockets and protocols, no
 * pages beside the data, no drop monitor; positions are pointers.
 */
#ifndef _LINUX_SKBUFF_H
#define _LINUX_SKBUFF_H

#include <linux/bug.h>
#include <linux/cache.h>
#include <linux/refcount.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/string.h>
#include <linux/types.h>

#define NET_SKB_PAD 64
#define NET_IP_ALIGN 0
#define MAX_SKB_FRAGS 17
#define SKB_ALLOC_FCLONE 0x01
#define SKB_ALLOC_RX 0x02
#define SKB_ALLOC_NAPI 0x04
#define SKB_DATA_ALIGN(x) (((x) + 63UL) & ~63UL)
#define SKB_WITH_OVERHEAD(x) ((x) - SKB_DATA_ALIGN(sizeof(struct skb_shared_info)))
#define SKB_TRUESIZE(x) \
	((x) + SKB_DATA_ALIGN(sizeof(struct sk_buff)) + SKB_DATA_ALIGN(sizeof(struct skb_shared_info)))

struct net_device;
struct sock;
struct sk_buff;
typedef unsigned char *sk_buff_data_t;

enum {
	SKB_FCLONE_UNAVAILABLE,
	SKB_FCLONE_ORIG,
	SKB_FCLONE_CLONE,
};

enum skb_drop_reason {
	SKB_NOT_DROPPED_YET = 0,
	SKB_CONSUMED,
	SKB_DROP_REASON_NOT_SPECIFIED,
};

struct skb_shared_info {
	u8 flags, meta_len, nr_frags, tx_flags;
	unsigned short gso_size, gso_segs;
	struct sk_buff *frag_list;
	unsigned int gso_type;
	u32 tskey;
	atomic_t dataref;
	void *destructor_arg;
	u64 kapi_frags[2 * MAX_SKB_FRAGS];
};

struct sk_buff_list {
	struct sk_buff *next, *prev;
};

/* A queue is the head of a circle; its first two fields are an entry's. */
struct sk_buff_head {
	union {
		struct {
			struct sk_buff *next, *prev;
		};
		struct sk_buff_list list;
	};
	u32 qlen;
	spinlock_t lock;
};

struct sk_buff {
	union {
		struct {
			struct sk_buff *next, *prev;
		};
		struct list_head list;
	};
	struct net_device *dev;
	struct sock *sk;
	u64 tstamp;
	char cb[48] __aligned(8);
	void (*destructor)(struct sk_buff *skb);
	unsigned int len, data_len;
	u16 mac_len, hdr_len, queue_mapping;
	u8 cloned : 1, nohdr : 1, fclone : 2, ip_summed : 2, pkt_type : 3;
	/* The data is of kmalloc()'s, or of the cache of small ones. */
	u8 kapi_small : 1;
	u32 priority, mark, hash;
	u16 protocol, transport_header, network_header, mac_header;
	sk_buff_data_t tail, end;
	unsigned char *head, *data;
	unsigned int truesize;
	refcount_t users;
};

/* Of the cache of pairs: the second is the first's clone. */
struct sk_buff_fclones {
	struct sk_buff skb1, skb2;
	refcount_t fclone_ref;
};

extern struct sk_buff *__alloc_skb(unsigned int size, gfp_t gfp, int flags, int node);
extern struct sk_buff *build_skb(void *data, unsigned int size);
extern void __kfree_skb(struct sk_buff *skb);
extern void kfree_skb_list(struct sk_buff *skb);
extern struct sk_buff *skb_clone(struct sk_buff *skb, gfp_t gfp);
extern struct sk_buff *skb_copy_expand(const struct sk_buff *skb, int headroom, int tailroom, gfp_t gfp);
extern int pskb_expand_head(struct sk_buff *skb, int nhead, int ntail, gfp_t gfp);
extern void *skb_put(struct sk_buff *skb, unsigned int len);
extern void *skb_push(struct sk_buff *skb, unsigned int len);
extern void *skb_pull(struct sk_buff *skb, unsigned int len);
extern void skb_trim(struct sk_buff *skb, unsigned int len);
extern int skb_copy_bits(const struct sk_buff *skb, int offset, void *to, int len);

static inline struct sk_buff *alloc_skb(unsigned int size, gfp_t gfp) { return __alloc_skb(size, gfp, 0, NUMA_NO_NODE); }
static inline struct sk_buff *alloc_skb_fclone(unsigned int size, gfp_t gfp)
{
	return __alloc_skb(size, gfp, SKB_ALLOC_FCLONE, NUMA_NO_NODE);
}

static inline bool skb_unref(struct sk_buff *skb) { return skb && refcount_dec_and_test(&skb->users); }
static inline struct sk_buff *skb_get(struct sk_buff *skb)
{
	refcount_inc(&skb->users);
	return skb;
}
static inline void kfree_skb(struct sk_buff *skb)
{
	if (skb_unref(skb))
		__kfree_skb(skb);
}
static inline void consume_skb(struct sk_buff *skb) { kfree_skb(skb); }
static inline void kfree_skb_reason(struct sk_buff *skb, enum skb_drop_reason reason) { kfree_skb(skb); }
#define dev_kfree_skb(skb) consume_skb(skb)
#define dev_kfree_skb_any(skb) consume_skb(skb)
#define dev_kfree_skb_irq(skb) consume_skb(skb)

static inline unsigned char *skb_end_pointer(const struct sk_buff *skb) { return skb->end; }
static inline unsigned int skb_end_offset(const struct sk_buff *skb) { return (unsigned int)(skb->end - skb->head); }
static inline unsigned char *skb_tail_pointer(const struct sk_buff *skb) { return skb->tail; }
static inline void skb_reset_tail_pointer(struct sk_buff *skb) { skb->tail = skb->data; }
static inline void skb_set_tail_pointer(struct sk_buff *skb, int offset) { skb->tail = skb->data + offset; }
#define skb_shinfo(skb) ((struct skb_shared_info *)skb_end_pointer(skb))

static inline bool skb_is_nonlinear(const struct sk_buff *skb) { return skb->data_len; }
static inline unsigned int skb_headlen(const struct sk_buff *skb) { return skb->len - skb->data_len; }
static inline unsigned int skb_headroom(const struct sk_buff *skb) { return (unsigned int)(skb->data - skb->head); }
static inline int skb_tailroom(const struct sk_buff *skb)
{
	return skb_is_nonlinear(skb) ? 0 : (int)(skb->end - skb->tail);
}
static inline int skb_cloned(const struct sk_buff *skb)
{
	return skb->cloned && atomic_read(&skb_shinfo(skb)->dataref) != 1;
}
static inline int skb_header_cloned(const struct sk_buff *skb) { return skb_cloned(skb); }
static inline int skb_shared(const struct sk_buff *skb) { return refcount_read(&skb->users) != 1; }

static inline void skb_reserve(struct sk_buff *skb, int len)
{
	skb->data += len;
	skb->tail += len;
}
static inline void *__skb_put(struct sk_buff *skb, unsigned int len)
{
	void *tail = skb->tail;

	skb->tail += len;
	skb->len += len;
	return tail;
}
static inline void *__skb_push(struct sk_buff *skb, unsigned int len)
{
	skb->data -= len;
	skb->len += len;
	return skb->data;
}
static inline void *__skb_pull(struct sk_buff *skb, unsigned int len)
{
	skb->len -= len;
	BUG_ON(skb->len < skb->data_len);
	return skb->data += len;
}
static inline void *skb_put_zero(struct sk_buff *skb, unsigned int len) { return memset(skb_put(skb, len), 0, len); }
static inline void *skb_put_data(struct sk_buff *skb, const void *data, unsigned int len)
{
	return memcpy(skb_put(skb, len), data, len);
}
static inline void skb_put_u8(struct sk_buff *skb, u8 value) { *(u8 *)skb_put(skb, 1) = value; }
static inline void *skb_push_data(struct sk_buff *skb, const void *data, unsigned int len)
{
	return memcpy(skb_push(skb, len), data, len);
}
static inline void skb_orphan(struct sk_buff *skb)
{
	if (skb->destructor)
		skb->destructor(skb);
	skb->destructor = NULL;
	skb->sk = NULL;
}

static inline struct sk_buff *skb_copy(const struct sk_buff *skb, gfp_t gfp)
{
	return skb_copy_expand(skb, (int)skb_headroom(skb), (int)(skb->end - skb->data) - (int)skb->len, gfp);
}
#define pskb_copy(skb, gfp) skb_copy(skb, gfp)
/* One's own head, and one's own data, instead of a shared one. */
static inline struct sk_buff *skb_share_check(struct sk_buff *skb, gfp_t gfp)
{
	struct sk_buff *own = skb;

	if (skb_shared(skb)) {
		own = skb_clone(skb, gfp);
		kfree_skb(skb);
	}
	return own;
}
static inline struct sk_buff *skb_unshare(struct sk_buff *skb, gfp_t gfp)
{
	struct sk_buff *own = skb;

	if (skb_cloned(skb)) {
		own = skb_copy(skb, gfp);
		kfree_skb(skb);
	}
	return own;
}
static inline int skb_cow(struct sk_buff *skb, unsigned int headroom)
{
	int lacks = headroom > skb_headroom(skb) ? (int)(headroom - skb_headroom(skb)) : 0;

	return lacks || skb_cloned(skb) ? pskb_expand_head(skb, (int)SKB_DATA_ALIGN((unsigned int)lacks), 0, GFP_ATOMIC) : 0;
}

/* Queues. */
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

#endif
