/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Packets' buffers: a head of fixed size, data beside it, and pages behind the data, from the caches that the kernel has
 * for them.
 *
 * How it works: heads come from `skbuff_head_cache`, heads that will be cloned as pairs from `skbuff_fclone_cache`; data
 * is kmalloc's, since 6.3 small data comes from `skbuff_small_head`, and large data for a device is a piece of a page
 * block. Behind the data lies struct skb_shared_info, which counts the heads that share it and names the pages. The
 * caches are made when the first buffer is asked for. A head has 232 bytes and the information 320, as on x86-64, so that
 * the truesize of a frame of 1,500 bytes is 2304.
 *
 *   head <= data <= tail <= end: headroom, data, tailroom; tail and end count from head
 *
 * Linux counterpart: include/linux/skbuff.h @ 6.1 to 7.3. Differences from Linux: no time stamps of hardware, no
 * extensions, no drop monitor; skb_copy() and pskb_copy() are one.
 */
#ifndef _LINUX_SKBUFF_H
#define _LINUX_SKBUFF_H

#include <asm/checksum.h>
#include <linux/bug.h>
#include <linux/cache.h>
#include <linux/gfp.h>
#include <linux/ktime.h>
#include <linux/mm.h>
#include <linux/page_frag_cache.h>
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
#define SKB_HEAD_ALIGN(x) (SKB_DATA_ALIGN(x) + SKB_DATA_ALIGN(sizeof(struct skb_shared_info)))
#define SKB_TRUESIZE(x) \
	((x) + SKB_DATA_ALIGN(sizeof(struct sk_buff)) + SKB_DATA_ALIGN(sizeof(struct skb_shared_info)))

struct net_device;
struct napi_struct;
struct sock;
struct sk_buff;
typedef unsigned int sk_buff_data_t;

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

/* Of ip_summed: who looks at a packet's check sum. */
enum {
	CHECKSUM_NONE,
	CHECKSUM_UNNECESSARY,
	CHECKSUM_COMPLETE,
	CHECKSUM_PARTIAL,
};

/* A piece of a page, or of a compound one. */
typedef struct skb_frag {
	struct page *kapi_page;
	unsigned int len;
	unsigned int offset;
} skb_frag_t;

struct skb_shared_hwtstamps {
	ktime_t hwtstamp;
};

struct skb_shared_info {
	u8 flags, meta_len, nr_frags, tx_flags;
	unsigned short gso_size, gso_segs;
	struct sk_buff *frag_list;
	struct skb_shared_hwtstamps hwtstamps;
	unsigned int gso_type;
	u32 tskey;
	atomic_t dataref;
	unsigned int xdp_frags_size;
	void *destructor_arg;
	skb_frag_t frags[MAX_SKB_FRAGS];
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
			struct net_device *dev;
		};
		struct list_head list;
	};
	struct sock *sk;
	ktime_t tstamp;
	char cb[48] __aligned(8);
	unsigned long _skb_refdst;
	void (*destructor)(struct sk_buff *skb);
	unsigned long _nfct;
	unsigned int len, data_len;
	u16 mac_len, hdr_len, queue_mapping;
	u8 cloned : 1, nohdr : 1, fclone : 2, peeked : 1, head_frag : 1, pfmemalloc : 1, pp_recycle : 1;
	/* The data is of the cache of small ones, not kmalloc()'s. */
	u8 kapi_small : 1;
	/* From here to tail a copy has what the original has. */
	u8 pkt_type : 3, ignore_df : 1, ip_summed : 2, ooo_okay : 1;
	u8 csum_level : 2, l4_hash : 1, sw_hash : 1, encapsulation : 1, csum_valid : 1, no_fcs : 1;
	u16 tc_index;
	u32 alloc_cpu;
	union {
		__wsum csum;
		struct {
			u16 csum_start, csum_offset;
		};
	};
	u32 priority;
	int skb_iif;
	u32 hash;
	__be16 vlan_proto;
	u16 vlan_tci;
	unsigned int napi_id;
	u32 secmark;
	u32 mark;
	__be16 inner_protocol;
	u16 inner_transport_header, inner_network_header, inner_mac_header;
	__be16 protocol;
	u16 transport_header, network_header, mac_header;
	u64 kapi_reserved;
	sk_buff_data_t tail, end;
	unsigned char *head, *data;
	unsigned int truesize;
	refcount_t users;
	void *extensions;
};

/* Of the cache of pairs: the second is the first's clone. */
struct sk_buff_fclones {
	struct sk_buff skb1, skb2;
	refcount_t fclone_ref;
};

extern struct sk_buff *__alloc_skb(unsigned int size, gfp_t gfp, int flags, int node);
/* Of a piece of a page with room for the shared information; @size 0: of data of kmalloc(). */
extern struct sk_buff *build_skb(void *data, unsigned int size);
/* A frame's for a device to fill, with NET_SKB_PAD bytes in front. */
extern struct sk_buff *__netdev_alloc_skb(struct net_device *dev, unsigned int len, gfp_t gfp);
extern struct sk_buff *napi_alloc_skb(struct napi_struct *napi, unsigned int len);
extern void *netdev_alloc_frag(unsigned int size);
extern void *napi_alloc_frag(unsigned int size);
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

/* As skb_pull(), when the bytes lie in pages: first so many of them move into the head's data. */
extern void *__pskb_pull_tail(struct sk_buff *skb, int delta);
extern int skb_store_bits(struct sk_buff *skb, int offset, const void *from, int len);
extern __wsum skb_checksum(const struct sk_buff *skb, int offset, int len, __wsum sum);
extern int skb_pad(struct sk_buff *skb, int pad);
extern void skb_add_rx_frag(struct sk_buff *skb, int i, struct page *page, int offset, int size, unsigned int truesize);
extern void skb_frag_unref(struct sk_buff *skb, int i);

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
static inline void dev_kfree_skb(struct sk_buff *skb) { consume_skb(skb); }
static inline void dev_kfree_skb_any(struct sk_buff *skb) { consume_skb(skb); }
static inline void dev_kfree_skb_irq(struct sk_buff *skb) { consume_skb(skb); }
static inline void dev_consume_skb_any(struct sk_buff *skb) { consume_skb(skb); }
static inline void dev_consume_skb_irq(struct sk_buff *skb) { consume_skb(skb); }
static inline void napi_consume_skb(struct sk_buff *skb, int budget) { consume_skb(skb); }

static inline struct sk_buff *netdev_alloc_skb(struct net_device *dev, unsigned int len)
{
	return __netdev_alloc_skb(dev, len, GFP_ATOMIC);
}
static inline struct sk_buff *netdev_alloc_skb_ip_align(struct net_device *dev, unsigned int len)
{
	return netdev_alloc_skb(dev, len + NET_IP_ALIGN);
}
static inline struct sk_buff *dev_alloc_skb(unsigned int len) { return netdev_alloc_skb(NULL, len); }
static inline struct sk_buff *napi_build_skb(void *data, unsigned int size) { return build_skb(data, size); }
static inline struct sk_buff *slab_build_skb(void *data) { return build_skb(data, 0); }
static inline void skb_free_frag(void *addr) { page_frag_free(addr); }
/* Its pages, and its data if that is one, go back to the pool that they are of. */
static inline void skb_mark_for_recycle(struct sk_buff *skb) { skb->pp_recycle = 1; }

static inline unsigned char *skb_end_pointer(const struct sk_buff *skb) { return skb->head + skb->end; }
static inline unsigned int skb_end_offset(const struct sk_buff *skb) { return skb->end; }
static inline unsigned char *skb_tail_pointer(const struct sk_buff *skb) { return skb->head + skb->tail; }
static inline void skb_reset_tail_pointer(struct sk_buff *skb) { skb->tail = (sk_buff_data_t)(skb->data - skb->head); }
static inline void skb_set_tail_pointer(struct sk_buff *skb, int offset)
{
	skb_reset_tail_pointer(skb);
	skb->tail += (sk_buff_data_t)offset;
}
#define skb_shinfo(skb) ((struct skb_shared_info *)skb_end_pointer(skb))

static inline bool skb_is_nonlinear(const struct sk_buff *skb) { return skb->data_len; }
static inline unsigned int skb_headlen(const struct sk_buff *skb) { return skb->len - skb->data_len; }
static inline unsigned int skb_headroom(const struct sk_buff *skb) { return (unsigned int)(skb->data - skb->head); }
static inline int skb_tailroom(const struct sk_buff *skb)
{
	return skb_is_nonlinear(skb) ? 0 : (int)(skb->end - skb->tail);
}
static inline int skb_availroom(const struct sk_buff *skb) { return skb_tailroom(skb); }
static inline unsigned int skb_pagelen(const struct sk_buff *skb) { return skb->len; }
static inline int skb_cloned(const struct sk_buff *skb)
{
	return skb->cloned && atomic_read(&skb_shinfo(skb)->dataref) != 1;
}
static inline int skb_header_cloned(const struct sk_buff *skb) { return skb_cloned(skb); }
static inline int skb_shared(const struct sk_buff *skb) { return refcount_read(&skb->users) != 1; }

static inline void skb_reserve(struct sk_buff *skb, int len)
{
	skb->data += len;
	skb->tail += (sk_buff_data_t)len;
}
static inline void *__skb_put(struct sk_buff *skb, unsigned int len)
{
	void *tail = skb_tail_pointer(skb);

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
	int room = (int)(skb->end - skb_headroom(skb)) - (int)skb->len;

	return skb_copy_expand(skb, (int)skb_headroom(skb), room > 0 ? room : 0, gfp);
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

static inline int skb_cow_head(struct sk_buff *skb, unsigned int headroom) { return skb_cow(skb, headroom); }

/* Where the headers of the layers begin, counted from head. */
static inline unsigned char *skb_mac_header(const struct sk_buff *skb) { return skb->head + skb->mac_header; }
static inline unsigned char *skb_network_header(const struct sk_buff *skb) { return skb->head + skb->network_header; }
static inline unsigned char *skb_transport_header(const struct sk_buff *skb) { return skb->head + skb->transport_header; }
static inline bool skb_mac_header_was_set(const struct sk_buff *skb) { return skb->mac_header != (u16)~0U; }
static inline bool skb_transport_header_was_set(const struct sk_buff *skb) { return skb->transport_header != (u16)~0U; }
static inline void skb_set_mac_header(struct sk_buff *skb, int offset)
{
	skb->mac_header = (u16)((int)skb_headroom(skb) + offset);
}
static inline void skb_set_network_header(struct sk_buff *skb, int offset)
{
	skb->network_header = (u16)((int)skb_headroom(skb) + offset);
}
static inline void skb_set_transport_header(struct sk_buff *skb, int offset)
{
	skb->transport_header = (u16)((int)skb_headroom(skb) + offset);
}
static inline void skb_reset_mac_header(struct sk_buff *skb) { skb_set_mac_header(skb, 0); }
static inline void skb_reset_network_header(struct sk_buff *skb) { skb_set_network_header(skb, 0); }
static inline void skb_reset_transport_header(struct sk_buff *skb) { skb_set_transport_header(skb, 0); }
static inline void skb_reset_mac_len(struct sk_buff *skb) { skb->mac_len = (u16)(skb->network_header - skb->mac_header); }
static inline int skb_network_offset(const struct sk_buff *skb) { return (int)(skb_network_header(skb) - skb->data); }
static inline int skb_transport_offset(const struct sk_buff *skb) { return (int)(skb_transport_header(skb) - skb->data); }
static inline u32 skb_network_header_len(const struct sk_buff *skb)
{
	return (u32)(skb->transport_header - skb->network_header);
}

/* Pages behind the data. */
static inline unsigned int skb_frag_size(const skb_frag_t *frag) { return frag->len; }
static inline void skb_frag_size_set(skb_frag_t *frag, unsigned int size) { frag->len = size; }
static inline void skb_frag_size_add(skb_frag_t *frag, int delta) { frag->len += (unsigned int)delta; }
static inline void skb_frag_size_sub(skb_frag_t *frag, int delta) { frag->len -= (unsigned int)delta; }
static inline unsigned int skb_frag_off(const skb_frag_t *frag) { return frag->offset; }
static inline void skb_frag_off_add(skb_frag_t *frag, int delta) { frag->offset += (unsigned int)delta; }
static inline struct page *skb_frag_page(const skb_frag_t *frag) { return frag->kapi_page; }
static inline void *skb_frag_address(const skb_frag_t *frag)
{
	return (char *)page_address(skb_frag_page(frag)) + skb_frag_off(frag);
}
static inline void skb_frag_fill_page_desc(skb_frag_t *frag, struct page *page, int offset, int size)
{
	*frag = (skb_frag_t){ .kapi_page = page, .len = (unsigned int)size, .offset = (unsigned int)offset };
}
/* The reference to the page becomes the buffer's; len and truesize are the caller's to count. */
static inline void __skb_fill_page_desc(struct sk_buff *skb, int i, struct page *page, int offset, int size)
{
	skb_frag_fill_page_desc(&skb_shinfo(skb)->frags[i], page, offset, size);
}
static inline void skb_fill_page_desc(struct sk_buff *skb, int i, struct page *page, int offset, int size)
{
	__skb_fill_page_desc(skb, i, page, offset, size);
	skb_shinfo(skb)->nr_frags = (u8)(i + 1);
}
static inline void skb_frag_ref(struct sk_buff *skb, int i) { get_page(skb_frag_page(&skb_shinfo(skb)->frags[i])); }
static inline bool skb_has_frag_list(const struct sk_buff *skb) { return skb_shinfo(skb)->frag_list != NULL; }
static inline int __skb_linearize(struct sk_buff *skb)
{
	return __pskb_pull_tail(skb, (int)skb->data_len) ? 0 : -ENOMEM;
}
static inline int skb_linearize(struct sk_buff *skb) { return skb_is_nonlinear(skb) ? __skb_linearize(skb) : 0; }
static inline bool pskb_may_pull(struct sk_buff *skb, unsigned int len)
{
	if (len <= skb_headlen(skb))
		return true;
	return len <= skb->len && __pskb_pull_tail(skb, (int)(len - skb_headlen(skb)));
}
static inline void *pskb_pull(struct sk_buff *skb, unsigned int len)
{
	return pskb_may_pull(skb, len) ? __skb_pull(skb, len) : NULL;
}
/* Bytes where they are, or, if they are not in one piece, copied into @buffer. */
static inline void *skb_header_pointer(const struct sk_buff *skb, int offset, int len, void *buffer)
{
	if ((int)skb_headlen(skb) - offset >= len)
		return skb->data + offset;
	return skb_copy_bits(skb, offset, buffer, len) < 0 ? NULL : buffer;
}
static inline void skb_copy_from_linear_data(const struct sk_buff *skb, void *to, unsigned int len)
{
	memcpy(to, skb->data, len);
}
static inline void skb_copy_to_linear_data(struct sk_buff *skb, const void *from, unsigned int len)
{
	memcpy(skb->data, from, len);
}
static inline int skb_padto(struct sk_buff *skb, unsigned int len)
{
	return skb->len >= len ? 0 : skb_pad(skb, (int)(len - skb->len));
}
static inline int skb_put_padto(struct sk_buff *skb, unsigned int len)
{
	unsigned int pad = skb->len < len ? len - skb->len : 0;

	if (pad && skb_pad(skb, (int)pad))
		return -ENOMEM;
	__skb_put(skb, pad);
	return 0;
}
static inline u16 skb_get_queue_mapping(const struct sk_buff *skb) { return skb->queue_mapping; }
static inline void skb_set_queue_mapping(struct sk_buff *skb, u16 queue) { skb->queue_mapping = queue; }
static inline void skb_record_rx_queue(struct sk_buff *skb, u16 queue) { skb->queue_mapping = (u16)(queue + 1); }
static inline void skb_checksum_none_assert(const struct sk_buff *skb) { BUG_ON(skb->ip_summed != CHECKSUM_NONE); }
static inline bool skb_is_gso(const struct sk_buff *skb) { return skb_shinfo(skb)->gso_size; }
static inline void skb_tx_timestamp(struct sk_buff *skb) { }
static inline void __net_timestamp(struct sk_buff *skb) { skb->tstamp = ktime_get_real(); }
static inline ktime_t skb_get_ktime(const struct sk_buff *skb) { return skb->tstamp; }
static inline struct skb_shared_hwtstamps *skb_hwtstamps(struct sk_buff *skb) { return &skb_shinfo(skb)->hwtstamps; }
static inline void skb_dst_drop(struct sk_buff *skb) { skb->_skb_refdst = 0; }
static inline void nf_reset_ct(struct sk_buff *skb) { skb->_nfct = 0; }

#include <kapi/skb_header.h>
#include <kapi/skb_queue.h>

#endif
