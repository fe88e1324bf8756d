// SPDX-License-Identifier: MIT OR Apache-2.0
// What packets' buffers hold in pages behind their data, and in further buffers behind those.
#include "host.h"
#include <linux/kernel.h>
#include <linux/skbuff.h>

/* A way through the bytes of a buffer, wherever they lie. */
struct walk {
	int skip, left, done;
	void *data;
	void (*fn)(void *data, void *piece, size_t bytes);
};

static void take(struct walk *w, void *piece, unsigned int size)
{
	int from = min(w->skip, (int)size), n = min((int)size - from, w->left);

	w->skip -= from;
	if (n <= 0)
		return;
	w->fn((char *)w->data + w->done, (char *)piece + from, (size_t)n);
	w->done += n;
	w->left -= n;
}

static void walk(struct walk *w, const struct sk_buff *skb)
{
	const struct skb_shared_info *shared = skb_shinfo(skb);
	struct sk_buff *next;
	int i;

	take(w, skb->data, skb_headlen(skb));
	for (i = 0; i < shared->nr_frags; i++)
		take(w, skb_frag_address(&shared->frags[i]), skb_frag_size(&shared->frags[i]));
	for (next = shared->frag_list; next; next = next->next)
		walk(w, next);
}

static int each_piece(const struct sk_buff *skb, int offset, int len, void *data,
		      void (*fn)(void *data, void *piece, size_t bytes))
{
	struct walk w = { .skip = offset, .left = len, .data = data, .fn = fn };

	if (offset < 0 || len < 0 || offset > (int)skb->len - len)
		return -EFAULT;
	walk(&w, skb);
	return 0;
}

static void copy_out(void *to, void *piece, size_t bytes) { memcpy(to, piece, bytes); }
static void copy_in(void *from, void *piece, size_t bytes) { memcpy(piece, from, bytes); }

int skb_copy_bits(const struct sk_buff *skb, int offset, void *to, int len)
{
	return each_piece(skb, offset, len, to, copy_out);
}

int skb_store_bits(struct sk_buff *skb, int offset, const void *from, int len)
{
	return each_piece(skb, offset, len, (void *)from, copy_in);
}

__wsum skb_checksum(const struct sk_buff *skb, int offset, int len, __wsum sum)
{
	u8 bytes[64];
	int at, n;

	for (at = 0; at < len; at += n) {
		n = min(len - at, (int)sizeof(bytes));
		if (skb_copy_bits(skb, offset + at, bytes, n))
			break;
		sum = csum_partial(bytes, n, sum);
	}
	return sum;
}

void skb_add_rx_frag(struct sk_buff *skb, int i, struct page *page, int offset, int size, unsigned int truesize)
{
	skb_fill_page_desc(skb, i, page, offset, size);
	skb->len += (unsigned int)size;
	skb->data_len += (unsigned int)size;
	skb->truesize += truesize;
}

void skb_frag_unref(struct sk_buff *skb, int i)
{
	kapi_skb_put_page(skb_frag_page(&skb_shinfo(skb)->frags[i]), skb->pp_recycle);
}

/* What a copy has of a head beside its data: all between the bits and its own places. */
static void copy_words(struct sk_buff *to, const struct sk_buff *from, int moved)
{
	memcpy(&to->tc_index, &from->tc_index, offsetof(struct sk_buff, tail) - offsetof(struct sk_buff, tc_index));
	to->dev = from->dev;
	to->tstamp = from->tstamp;
	memcpy(to->cb, from->cb, sizeof(to->cb));
	to->mac_len = from->mac_len;
	to->hdr_len = from->hdr_len;
	to->queue_mapping = from->queue_mapping;
	to->ip_summed = from->ip_summed;
	to->pkt_type = from->pkt_type;
	to->csum_level = from->csum_level;
	to->csum_valid = from->csum_valid;
	to->transport_header = (u16)(from->transport_header + moved);
	to->network_header = (u16)(from->network_header + moved);
	to->mac_header = (u16)(from->mac_header + moved);
}

struct sk_buff *skb_copy_expand(const struct sk_buff *skb, int headroom, int tailroom, gfp_t gfp)
{
	struct sk_buff *copy = alloc_skb((unsigned int)headroom + skb->len + (unsigned int)tailroom, gfp);
	int moved = headroom - (int)skb_headroom(skb);

	if (!copy)
		return NULL;
	skb_reserve(copy, headroom);
	skb_copy_bits(skb, 0, skb_put(copy, skb->len), (int)skb->len);
	copy_words(copy, skb, moved);
	return copy;
}

/* Bytes that were copied leave the front of the pages, and of the buffers behind them. */
static void drop_front(struct sk_buff *skb, unsigned int bytes)
{
	struct skb_shared_info *shared = skb_shinfo(skb);
	struct sk_buff *next;
	u8 i, kept = 0;

	for (i = 0; i < shared->nr_frags; i++) {
		skb_frag_t *frag = &shared->frags[i];
		unsigned int taken = min(bytes, skb_frag_size(frag));

		bytes -= taken;
		skb_frag_off_add(frag, (int)taken);
		skb_frag_size_sub(frag, (int)taken);
		if (skb_frag_size(frag))
			shared->frags[kept++] = *frag;
		else
			kapi_skb_put_page(skb_frag_page(frag), skb->pp_recycle);
	}
	shared->nr_frags = kept;
	while ((next = shared->frag_list) && bytes >= next->len) {
		bytes -= next->len;
		shared->frag_list = next->next;
		kfree_skb(next);
	}
	if (bytes && next)
		pskb_pull(next, bytes);
}

void *__pskb_pull_tail(struct sk_buff *skb, int delta)
{
	int more = (int)(skb->tail + (unsigned int)delta) - (int)skb->end;

	if (delta <= 0)
		return skb_tail_pointer(skb);
	if ((more > 0 || skb_cloned(skb)) && pskb_expand_head(skb, 0, more > 0 ? more + 128 : 0, GFP_ATOMIC))
		return NULL;
	BUG_ON(skb_copy_bits(skb, (int)skb_headlen(skb), skb_tail_pointer(skb), delta));
	drop_front(skb, (unsigned int)delta);
	skb->tail += (unsigned int)delta;
	skb->data_len -= (unsigned int)delta;
	return skb_tail_pointer(skb);
}

/* Zero bytes behind the data; the buffer is freed if there is no memory for them. */
int skb_pad(struct sk_buff *skb, int pad)
{
	int more;

	if (skb_linearize(skb))
		goto no_memory;
	more = pad - skb_tailroom(skb);
	if ((more > 0 || skb_cloned(skb)) && pskb_expand_head(skb, 0, max(more, 0), GFP_ATOMIC))
		goto no_memory;
	memset(skb_tail_pointer(skb), 0, (size_t)pad);
	return 0;
no_memory:
	kfree_skb(skb);
	return -ENOMEM;
}

void skb_trim(struct sk_buff *skb, unsigned int len)
{
	if (len < skb->len && !WARN_ON(skb_is_nonlinear(skb))) {
		skb->len = len;
		skb_set_tail_pointer(skb, (int)len);
	}
}
