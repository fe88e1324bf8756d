// SPDX-License-Identifier: MIT OR Apache-2.0
// Packets' buffers: their caches, their data, and queues of them.
#include "host.h"
#include <linux/kernel.h>
#include <linux/skbuff.h>
#include <linux/version.h>

/* What small data has room for: the largest header of a packet, and what the networks below put before it. */
#define SMALL_BYTES SKB_DATA_ALIGN(640UL)

/* Since 6.3 small data has a cache of its own. */
#define HAS_SMALL (LINUX_VERSION_CODE >= KERNEL_VERSION(6, 3, 0))

#define CACHE_FLAGS (SLAB_HWCACHE_ALIGN | KAPI_SLAB_STAYS)

static struct kmem_cache *head_cache, *fclone_cache, *small_cache;

/* Made when the first buffer is asked for: most modules ask for none. */
static bool caches_are_there(void)
{
	static DEFINE_SPINLOCK(lock);
	unsigned long flags;

	if (likely(smp_load_acquire(&small_cache)))
		return true;
	spin_lock_irqsave(&lock, flags);
	if (!small_cache) {
		head_cache = kmem_cache_create_usercopy("skbuff_head_cache", sizeof(struct sk_buff), 0,
							CACHE_FLAGS, offsetof(struct sk_buff, cb),
							sizeof(((struct sk_buff *)0)->cb), NULL);
		fclone_cache = kmem_cache_create("skbuff_fclone_cache", sizeof(struct sk_buff_fclones), 0,
						 CACHE_FLAGS, NULL);
		if (head_cache && fclone_cache)
			smp_store_release(&small_cache,
					  HAS_SMALL ? kmem_cache_create("skbuff_small_head", SMALL_BYTES, 0,
									CACHE_FLAGS, NULL) : head_cache);
	}
	spin_unlock_irqrestore(&lock, flags);
	return small_cache;
}

/* Allocates data of at least so many bytes and the shared information behind; @size becomes what there is. */
static unsigned char *alloc_data(unsigned int *size, gfp_t gfp, bool *small)
{
	size_t bytes = SKB_DATA_ALIGN((size_t)*size) + SKB_DATA_ALIGN(sizeof(struct skb_shared_info));
	unsigned char *data;

	*small = HAS_SMALL && bytes <= SMALL_BYTES && !(gfp & __GFP_DMA);
	if (*small) {
		data = kmem_cache_alloc(small_cache, gfp);
		bytes = SMALL_BYTES;
	} else {
		bytes = kmalloc_size_roundup(bytes);
		data = kmalloc(bytes, gfp);
	}
	*size = (unsigned int)SKB_WITH_OVERHEAD(bytes) & ~63U;
	return data;
}

static void put_data(void *head, bool small)
{
	if (small)
		kmem_cache_free(small_cache, head);
	else
		kfree(head);
}

/* A head for data; what it was before is forgotten, but for the cache that it came from. */
static void set_up(struct sk_buff *skb, unsigned char *data, unsigned int size, u8 fclone)
{
	memset(skb, 0, sizeof(*skb));
	skb->fclone = fclone;
	skb->head = skb->data = skb->tail = data;
	skb->end = data + size;
	skb->truesize = SKB_TRUESIZE(size);
	refcount_set(&skb->users, 1);
	memset(skb_shinfo(skb), 0, offsetof(struct skb_shared_info, kapi_frags));
	atomic_set(&skb_shinfo(skb)->dataref, 1);
}

static struct sk_buff_fclones *pair_of(struct sk_buff *first) { return container_of(first, struct sk_buff_fclones, skb1); }

static void put_head(struct sk_buff *skb)
{
	struct sk_buff_fclones *pair;

	if (skb->fclone == SKB_FCLONE_UNAVAILABLE) {
		kmem_cache_free(head_cache, skb);
		return;
	}
	pair = pair_of(skb->fclone == SKB_FCLONE_ORIG ? skb : skb - 1);
	if (refcount_dec_and_test(&pair->fclone_ref))
		kmem_cache_free(fclone_cache, pair);
}

struct sk_buff *__alloc_skb(unsigned int size, gfp_t gfp, int flags, int node)
{
	bool paired = flags & SKB_ALLOC_FCLONE, small;
	struct sk_buff *skb = NULL;
	unsigned char *data;

	if (caches_are_there())
		skb = kmem_cache_alloc(paired ? fclone_cache : head_cache, gfp & ~__GFP_DMA);
	if (!skb)
		return NULL;
	data = alloc_data(&size, gfp, &small);
	if (!data) {
		kmem_cache_free(paired ? fclone_cache : head_cache, skb);
		return NULL;
	}
	set_up(skb, data, size, paired ? SKB_FCLONE_ORIG : SKB_FCLONE_UNAVAILABLE);
	skb->kapi_small = small;
	if (paired) {
		refcount_set(&pair_of(skb)->fclone_ref, 1);
		pair_of(skb)->skb2.fclone = SKB_FCLONE_UNAVAILABLE;
	}
	return skb;
}

/* Of data that kmalloc() gave, with room for the shared information; @size of all, 0 for the block's. */
struct sk_buff *build_skb(void *data, unsigned int size)
{
	struct sk_buff *skb = caches_are_there() ? kmem_cache_alloc(head_cache, GFP_ATOMIC) : NULL;

	if (skb)
		set_up(skb, data, (unsigned int)SKB_WITH_OVERHEAD(size ?: ksize(data)) & ~7U, SKB_FCLONE_UNAVAILABLE);
	return skb;
}

static void release_data(struct sk_buff *skb)
{
	struct skb_shared_info *shared = skb_shinfo(skb);

	if (skb->cloned && atomic_sub_return(1, &shared->dataref) != 0)
		return;
	kfree_skb_list(shared->frag_list);
	put_data(skb->head, skb->kapi_small);
}

void __kfree_skb(struct sk_buff *skb)
{
	skb_orphan(skb);
	release_data(skb);
	put_head(skb);
}

void kfree_skb_list(struct sk_buff *skb)
{
	struct sk_buff *next;

	for (; skb; skb = next) {
		next = skb->next;
		kfree_skb(skb);
	}
}

/* The second of a pair, while it is free; another head otherwise. */
static struct sk_buff *second_head(struct sk_buff *skb, gfp_t gfp, u8 *fclone)
{
	struct sk_buff_fclones *pair = pair_of(skb);
	struct sk_buff *clone;

	if (skb->fclone == SKB_FCLONE_ORIG && refcount_read(&pair->fclone_ref) == 1) {
		refcount_set(&pair->fclone_ref, 2);
		*fclone = SKB_FCLONE_CLONE;
		return &pair->skb2;
	}
	clone = kmem_cache_alloc(head_cache, gfp);
	*fclone = SKB_FCLONE_UNAVAILABLE;
	return clone;
}

struct sk_buff *skb_clone(struct sk_buff *skb, gfp_t gfp)
{
	u8 fclone;
	struct sk_buff *clone = second_head(skb, gfp, &fclone);

	if (!clone)
		return NULL;
	*clone = *skb;
	clone->next = clone->prev = NULL;
	clone->sk = NULL;
	clone->destructor = NULL;
	clone->fclone = fclone;
	clone->cloned = 1;
	refcount_set(&clone->users, 1);
	atomic_inc(&skb_shinfo(skb)->dataref);
	skb->cloned = 1;
	return clone;
}

/* What a copy has of a head beside its data. */
static void copy_words(struct sk_buff *to, const struct sk_buff *from)
{
	to->dev = from->dev;
	to->tstamp = from->tstamp;
	memcpy(to->cb, from->cb, sizeof(to->cb));
	to->mac_len = from->mac_len;
	to->hdr_len = from->hdr_len;
	to->queue_mapping = from->queue_mapping;
	to->ip_summed = from->ip_summed;
	to->pkt_type = from->pkt_type;
	to->priority = from->priority;
	to->mark = from->mark;
	to->hash = from->hash;
	to->protocol = from->protocol;
}

struct sk_buff *skb_copy_expand(const struct sk_buff *skb, int headroom, int tailroom, gfp_t gfp)
{
	struct sk_buff *copy = alloc_skb((unsigned int)headroom + skb->len + (unsigned int)tailroom, gfp);
	int moved = headroom - (int)skb_headroom(skb);

	if (!copy)
		return NULL;
	skb_reserve(copy, headroom);
	skb_put_data(copy, skb->data, skb->len);
	copy_words(copy, skb);
	copy->transport_header = (u16)(skb->transport_header + moved);
	copy->network_header = (u16)(skb->network_header + moved);
	copy->mac_header = (u16)(skb->mac_header + moved);
	return copy;
}

/* New data for a head, with more room in front and behind; the other heads keep the old. */
int pskb_expand_head(struct sk_buff *skb, int nhead, int ntail, gfp_t gfp)
{
	unsigned int size = (unsigned int)nhead + skb_end_offset(skb) + (unsigned int)ntail;
	unsigned int offset = (unsigned int)nhead + skb_headroom(skb), len = skb->len;
	struct skb_shared_info shared = *skb_shinfo(skb);
	unsigned char *data;
	bool small;

	BUG_ON(nhead < 0 || skb_shared(skb));
	data = alloc_data(&size, gfp, &small);
	if (!data)
		return -ENOMEM;
	memcpy(data + nhead, skb->head, (size_t)(skb->tail - skb->head));
	if (!skb->cloned)
		skb_shinfo(skb)->frag_list = NULL;
	else if (shared.frag_list)
		skb_get(shared.frag_list);
	release_data(skb);
	skb->head = data;
	skb->data = data + offset;
	skb->tail = skb->data + len;
	skb->end = data + size;
	skb->kapi_small = small;
	skb->cloned = 0;
	skb->transport_header = (u16)(skb->transport_header + nhead);
	skb->network_header = (u16)(skb->network_header + nhead);
	skb->mac_header = (u16)(skb->mac_header + nhead);
	*skb_shinfo(skb) = shared;
	atomic_set(&skb_shinfo(skb)->dataref, 1);
	return 0;
}

static void out_of_room(const char *what, const struct sk_buff *skb, unsigned int len)
{
	pr_emerg("%s: %u bytes do not fit, len %u head %p data %p tail %p end %p\n", what, len, skb->len, skb->head,
		 skb->data, skb->tail, skb->end);
	BUG();
}

void *skb_put(struct sk_buff *skb, unsigned int len)
{
	if (unlikely(len > (size_t)(skb->end - skb->tail)))
		out_of_room("skb_over_panic", skb, len);
	return __skb_put(skb, len);
}

void *skb_push(struct sk_buff *skb, unsigned int len)
{
	if (unlikely(len > skb_headroom(skb)))
		out_of_room("skb_under_panic", skb, len);
	return __skb_push(skb, len);
}

void *skb_pull(struct sk_buff *skb, unsigned int len) { return len > skb->len ? NULL : __skb_pull(skb, len); }

void skb_trim(struct sk_buff *skb, unsigned int len)
{
	if (len < skb->len) {
		skb->len = len;
		skb_set_tail_pointer(skb, (int)len);
	}
}

int skb_copy_bits(const struct sk_buff *skb, int offset, void *to, int len)
{
	if (offset < 0 || len < 0 || offset > (int)skb->len - len)
		return -EFAULT;
	memcpy(to, skb->data + offset, (size_t)len);
	return 0;
}

#define UNDER_QUEUE(queue, statement) \
	do { \
		unsigned long __flags; \
		spin_lock_irqsave(&(queue)->lock, __flags); \
		statement; \
		spin_unlock_irqrestore(&(queue)->lock, __flags); \
	} while (0)

void skb_queue_head(struct sk_buff_head *queue, struct sk_buff *skb) { UNDER_QUEUE(queue, __skb_queue_head(queue, skb)); }
void skb_queue_tail(struct sk_buff_head *queue, struct sk_buff *skb) { UNDER_QUEUE(queue, __skb_queue_tail(queue, skb)); }
void skb_unlink(struct sk_buff *skb, struct sk_buff_head *queue) { UNDER_QUEUE(queue, __skb_unlink(skb, queue)); }
struct sk_buff *skb_dequeue(struct sk_buff_head *queue) { return UNDER_LOCK(&queue->lock, __skb_dequeue(queue)); }
struct sk_buff *skb_dequeue_tail(struct sk_buff_head *queue) { return UNDER_LOCK(&queue->lock, __skb_dequeue_tail(queue)); }

void skb_append(struct sk_buff *prev, struct sk_buff *skb, struct sk_buff_head *queue)
{
	UNDER_QUEUE(queue, __skb_queue_after(queue, prev, skb));
}

void skb_queue_purge(struct sk_buff_head *queue)
{
	struct sk_buff *skb;

	while ((skb = skb_dequeue(queue)))
		kfree_skb(skb);
}

void skb_queue_splice_tail_init(struct sk_buff_head *list, struct sk_buff_head *queue)
{
	struct sk_buff *skb;

	while ((skb = __skb_dequeue(list)))
		__skb_queue_tail(queue, skb);
}
