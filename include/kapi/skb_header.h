/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Headers of packets, room for them, and what buffers tell of them: a part of <linux/skbuff.h>, which includes it. */
#ifndef _KAPI_SKB_HEADER_H
#define _KAPI_SKB_HEADER_H

#include <linux/gfp.h>

/* What a copy has at first, and what is cut off or moved. */
static inline struct sk_buff *skb_realloc_headroom(struct sk_buff *skb, unsigned int headroom)
{
	struct sk_buff *copy = skb_copy(skb, GFP_ATOMIC);

	if (copy && skb_headroom(copy) < headroom && pskb_expand_head(copy, (int)(headroom - skb_headroom(copy)), 0, GFP_ATOMIC)) {
		kfree_skb(copy);
		return NULL;
	}
	return copy;
}
static inline struct sk_buff *skb_expand_head(struct sk_buff *skb, unsigned int headroom)
{
	if (!skb_cow_head(skb, headroom))
		return skb;
	kfree_skb(skb);
	return NULL;
}
static inline int skb_unclone(struct sk_buff *skb, gfp_t gfp) { return skb_cloned(skb) ? pskb_expand_head(skb, 0, 0, gfp) : 0; }
static inline int skb_header_unclone(struct sk_buff *skb, gfp_t gfp) { return skb_unclone(skb, gfp); }
static inline int skb_linearize_cow(struct sk_buff *skb)
{
	return skb_is_nonlinear(skb) || skb_cloned(skb) ? __skb_linearize(skb) : 0;
}
static inline int skb_ensure_writable(struct sk_buff *skb, unsigned int len)
{
	if (!pskb_may_pull(skb, len))
		return -ENOMEM;
	return skb_cloned(skb) ? pskb_expand_head(skb, 0, 0, GFP_ATOMIC) : 0;
}
static inline int skb_clone_writable(const struct sk_buff *skb, unsigned int len)
{
	return !skb_header_cloned(skb) && skb_headroom(skb) + len <= skb->hdr_len;
}
static inline void *skb_pull_inline(struct sk_buff *skb, unsigned int len)
{
	return len > skb->len ? NULL : __skb_pull(skb, len);
}
static inline void *skb_pull_data(struct sk_buff *skb, size_t len)
{
	void *data = skb->data;

	if (skb->len < len)
		return NULL;
	skb_pull(skb, (unsigned int)len);
	return data;
}
static inline int pskb_trim(struct sk_buff *skb, unsigned int len)
{
	if (len < skb->len && skb_is_nonlinear(skb) && skb_linearize(skb))
		return -ENOMEM;
	skb_trim(skb, len);
	return 0;
}
static inline int __pskb_trim(struct sk_buff *skb, unsigned int len) { return pskb_trim(skb, len); }
static inline void __skb_trim(struct sk_buff *skb, unsigned int len) { skb_trim(skb, len); }
static inline void *__skb_put_zero(struct sk_buff *skb, unsigned int len) { return memset(__skb_put(skb, len), 0, len); }
static inline void *__skb_put_data(struct sk_buff *skb, const void *data, unsigned int len)
{
	return memcpy(__skb_put(skb, len), data, len);
}
static inline void __skb_put_u8(struct sk_buff *skb, u8 value) { *(u8 *)__skb_put(skb, 1) = value; }
static inline void skb_copy_from_linear_data_offset(const struct sk_buff *skb, int offset, void *to, unsigned int len)
{
	memcpy(to, skb->data + offset, len);
}
static inline void skb_copy_to_linear_data_offset(struct sk_buff *skb, int offset, const void *from, unsigned int len)
{
	memcpy(skb->data + offset, from, len);
}
static inline void *skb_pointer_if_linear(const struct sk_buff *skb, int offset, int len)
{
	return (int)skb_headlen(skb) - offset < len ? NULL : skb->data + offset;
}
static inline struct sk_buff *__dev_alloc_skb(unsigned int len, gfp_t gfp) { return __netdev_alloc_skb(NULL, len, gfp); }
static inline struct sk_buff *__netdev_alloc_skb_ip_align(struct net_device *dev, unsigned int len, gfp_t gfp)
{
	return __netdev_alloc_skb(dev, len + NET_IP_ALIGN, gfp);
}
static inline struct page *__dev_alloc_pages(gfp_t gfp, unsigned int order)
{
	return alloc_pages(gfp | __GFP_COMP | __GFP_MEMALLOC, order);
}
static inline struct page *__dev_alloc_page(gfp_t gfp) { return __dev_alloc_pages(gfp, 0); }
static inline struct page *dev_alloc_pages(unsigned int order) { return __dev_alloc_pages(GFP_ATOMIC | __GFP_NOWARN, order); }
static inline struct page *dev_alloc_page(void) { return dev_alloc_pages(0); }
static inline bool skb_pfmemalloc(const struct sk_buff *skb) { return skb->pfmemalloc; }
static inline void kfree_skb_list_reason(struct sk_buff *skb, enum skb_drop_reason reason) { kfree_skb_list(skb); }
static inline void dev_kfree_skb_any_reason(struct sk_buff *skb, enum skb_drop_reason reason) { kfree_skb(skb); }
static inline void dev_kfree_skb_irq_reason(struct sk_buff *skb, enum skb_drop_reason reason) { kfree_skb(skb); }

/* Headers inside of a tunnel, and what is told of the others. */
static inline void skb_set_inner_mac_header(struct sk_buff *skb, int offset)
{
	skb->inner_mac_header = (u16)((int)skb_headroom(skb) + offset);
}
static inline void skb_set_inner_network_header(struct sk_buff *skb, int offset)
{
	skb->inner_network_header = (u16)((int)skb_headroom(skb) + offset);
}
static inline void skb_set_inner_transport_header(struct sk_buff *skb, int offset)
{
	skb->inner_transport_header = (u16)((int)skb_headroom(skb) + offset);
}
static inline void skb_reset_inner_mac_header(struct sk_buff *skb) { skb_set_inner_mac_header(skb, 0); }
static inline void skb_reset_inner_network_header(struct sk_buff *skb) { skb_set_inner_network_header(skb, 0); }
static inline void skb_reset_inner_transport_header(struct sk_buff *skb) { skb_set_inner_transport_header(skb, 0); }
static inline unsigned char *skb_inner_mac_header(const struct sk_buff *skb) { return skb->head + skb->inner_mac_header; }
static inline unsigned char *skb_inner_network_header(const struct sk_buff *skb)
{
	return skb->head + skb->inner_network_header;
}
static inline unsigned char *skb_inner_transport_header(const struct sk_buff *skb)
{
	return skb->head + skb->inner_transport_header;
}
static inline int skb_mac_offset(const struct sk_buff *skb) { return (int)(skb_mac_header(skb) - skb->data); }
static inline u32 skb_mac_header_len(const struct sk_buff *skb) { return (u32)(skb->network_header - skb->mac_header); }
static inline void skb_pop_mac_header(struct sk_buff *skb) { skb->mac_header = skb->network_header; }
static inline void skb_unset_mac_header(struct sk_buff *skb) { skb->mac_header = (u16)~0U; }
static inline int skb_checksum_start_offset(const struct sk_buff *skb) { return (int)skb->csum_start - (int)skb_headroom(skb); }
static inline int skb_csum_unnecessary(const struct sk_buff *skb) { return skb->ip_summed == CHECKSUM_UNNECESSARY; }
static inline void skb_postpull_rcsum(struct sk_buff *skb, const void *start, unsigned int len) { }
static inline void skb_postpush_rcsum(struct sk_buff *skb, const void *start, unsigned int len) { }
static inline void *skb_pull_rcsum(struct sk_buff *skb, unsigned int len) { return skb_pull(skb, len); }
static inline u32 skb_get_hash(struct sk_buff *skb) { return skb->hash; }
static inline u32 skb_get_hash_raw(const struct sk_buff *skb) { return skb->hash; }
static inline void skb_clear_hash(struct sk_buff *skb)
{
	skb->hash = 0;
	skb->l4_hash = skb->sw_hash = 0;
}
static inline bool skb_rx_queue_recorded(const struct sk_buff *skb) { return skb->queue_mapping != 0; }
static inline u16 skb_get_rx_queue(const struct sk_buff *skb) { return (u16)(skb->queue_mapping - 1); }
static inline void skb_gso_reset(struct sk_buff *skb) { skb_shinfo(skb)->gso_size = skb_shinfo(skb)->gso_segs = 0; }
static inline bool skb_is_gso_v6(const struct sk_buff *skb) { return false; }
static inline bool skb_is_gso_tcp(const struct sk_buff *skb) { return skb_is_gso(skb); }
static inline void skb_frag_off_set(skb_frag_t *frag, unsigned int offset) { frag->offset = offset; }
static inline void skb_frag_list_init(struct sk_buff *skb) { skb_shinfo(skb)->frag_list = NULL; }
static inline void skb_len_add(struct sk_buff *skb, int delta)
{
	skb->len += (unsigned int)delta;
	skb->data_len += (unsigned int)delta;
	skb->truesize += (unsigned int)delta;
}
static inline ktime_t skb_tstamp(const struct sk_buff *skb) { return skb->tstamp; }
static inline void *skb_dst(const struct sk_buff *skb) { return (void *)(skb->_skb_refdst & ~1UL); }

#endif
