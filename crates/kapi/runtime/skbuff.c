// SPDX-License-Identifier: MIT OR Apache-2.0
// Packets' buffers: their caches, their data, and queues of them.
#include "host.h"
#include <linux/kernel.h>
#include <linux/skbuff.h>
#include <linux/version.h>
#include <kapi/bytes.h>

KAPI_IS_LARGE(struct sk_buff, KAPI_SK_BUFF_BYTES);
KAPI_IS_LARGE(struct sk_buff_fclones, KAPI_SK_BUFF_FCLONES_BYTES);
KAPI_IS_LARGE(struct skb_shared_info, KAPI_SKB_SHARED_INFO_BYTES);

/*
 * What small data has room for: the largest header of a packet, since 6.11 one that GRO joins with room in front, and the
 * shared information.
 */
#define SMALL_BYTES KAPI_BYTES(640UL, 704UL, 704UL)

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
static unsigned char *alloc_data(unsigned int *size, gfp_t gfp, bool *small, unsigned long site)
{
	size_t bytes = SKB_DATA_ALIGN((size_t)*size) + SKB_DATA_ALIGN(sizeof(struct skb_shared_info));
	unsigned char *data;

	*small = HAS_SMALL && bytes <= SMALL_BYTES && !(gfp & __GFP_DMA);
	if (*small) {
		data = site ? kapi_cache_alloc_for(small_cache, gfp, site) : kmem_cache_alloc(small_cache, gfp);
		bytes = SMALL_BYTES;
	} else {
		bytes = kmalloc_size_roundup(bytes);
		data = site ? kapi_kmalloc_for(bytes, gfp, site) : kmalloc(bytes, gfp);
	}
	*size = (unsigned int)SKB_WITH_OVERHEAD(bytes) & ~63U;
	return data;
}

void kapi_skb_put_page(struct page *page, bool recycle)
{
	if (!recycle || !kapi_pool_put(page))
		kapi_frame_put(page);
}

static void put_data(const struct sk_buff *skb)
{
	if (skb->kapi_small)
		kmem_cache_free(small_cache, skb->head);
	else if (skb->head_frag)
		kapi_skb_put_page(virt_to_page(skb->head), skb->pp_recycle);
	else
		kfree(skb->head);
}

/* A head for data; what it was before is forgotten, but for the cache that it came from. */
static void set_up(struct sk_buff *skb, unsigned char *data, unsigned int size, u8 fclone)
{
	memset(skb, 0, sizeof(*skb));
	skb->fclone = fclone;
	skb->head = skb->data = data;
	skb->end = size;
	skb->truesize = SKB_TRUESIZE(size);
	skb->mac_header = skb->transport_header = (u16)~0U;
	skb->alloc_cpu = raw_smp_processor_id();
	refcount_set(&skb->users, 1);
	memset(skb_shinfo(skb), 0, offsetof(struct skb_shared_info, frags));
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

/* For the caller if @site is 0. */
static struct sk_buff *alloc(unsigned int size, gfp_t gfp, int flags, unsigned long site)
{
	bool paired = flags & SKB_ALLOC_FCLONE, small;
	struct kmem_cache *cache;
	unsigned char *data;
	struct sk_buff *skb;

	if (!caches_are_there())
		return NULL;
	cache = paired ? fclone_cache : head_cache;
	skb = site ? kapi_cache_alloc_for(cache, gfp & ~__GFP_DMA, site) : kmem_cache_alloc(cache, gfp & ~__GFP_DMA);
	if (!skb)
		return NULL;
	data = alloc_data(&size, gfp, &small, site);
	if (!data) {
		kmem_cache_free(cache, skb);
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

struct sk_buff *__alloc_skb(unsigned int size, gfp_t gfp, int flags, int node) { return alloc(size, gfp, flags, 0); }
struct sk_buff *kapi_skb_for(unsigned int size, gfp_t gfp, unsigned long site) { return alloc(size, gfp, 0, site); }

/* Of a piece of a page, or of data that kmalloc() gave, with room for the shared information. */
struct sk_buff *build_skb(void *data, unsigned int size)
{
	struct sk_buff *skb = caches_are_there() ? kmem_cache_alloc(head_cache, GFP_ATOMIC) : NULL;

	if (skb)
		set_up(skb, data, (unsigned int)SKB_WITH_OVERHEAD(size ?: ksize(data)) & ~7U, SKB_FCLONE_UNAVAILABLE);
	if (skb)
		skb->head_frag = size != 0;
	return skb;
}

void *netdev_alloc_frag(unsigned int size) { return kapi_frame_piece(size, GFP_ATOMIC); }
void *napi_alloc_frag(unsigned int size) { return kapi_frame_piece(size, GFP_ATOMIC); }

/* Small and large data, and what may wait for memory, is kmalloc's; the rest a piece of a block of pages. */
struct sk_buff *__netdev_alloc_skb(struct net_device *dev, unsigned int len, gfp_t gfp)
{
	unsigned int bytes = len + NET_SKB_PAD, whole = (unsigned int)SKB_HEAD_ALIGN(bytes);
	struct sk_buff *skb;
	void *data;

	if (bytes <= SKB_WITH_OVERHEAD(1024) || bytes > SKB_WITH_OVERHEAD(PAGE_SIZE) ||
	    (gfp & (__GFP_DIRECT_RECLAIM | __GFP_DMA))) {
		skb = __alloc_skb(bytes, gfp, SKB_ALLOC_RX, NUMA_NO_NODE);
	} else {
		data = kapi_frame_piece(whole, gfp);
		skb = data ? build_skb(data, whole) : NULL;
		if (data && !skb)
			page_frag_free(data);
	}
	if (skb) {
		skb_reserve(skb, NET_SKB_PAD);
		skb->dev = dev;
	}
	return skb;
}

struct sk_buff *napi_alloc_skb(struct napi_struct *napi, unsigned int len)
{
	return __netdev_alloc_skb(NULL, len, GFP_ATOMIC);
}

static void release_data(struct sk_buff *skb)
{
	struct skb_shared_info *shared = skb_shinfo(skb);
	unsigned int i;

	if (skb->cloned && atomic_sub_return(1, &shared->dataref) != 0)
		return;
	for (i = 0; i < shared->nr_frags; i++)
		kapi_skb_put_page(skb_frag_page(&shared->frags[i]), skb->pp_recycle);
	kfree_skb_list(shared->frag_list);
	put_data(skb);
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

/* New data for a head, with more room in front and behind; the other heads keep the old, and pages are shared. */
int pskb_expand_head(struct sk_buff *skb, int nhead, int ntail, gfp_t gfp)
{
	unsigned int size = (unsigned int)nhead + skb_end_offset(skb) + (unsigned int)ntail, i;
	struct skb_shared_info shared = *skb_shinfo(skb);
	struct sk_buff old = *skb;
	unsigned char *data;
	bool small;

	BUG_ON(nhead < 0 || skb_shared(skb));
	data = alloc_data(&size, gfp, &small, 0);
	if (!data)
		return -ENOMEM;
	memcpy(data + nhead, skb->head, skb->tail);
	if (!skb->cloned) {
		skb_shinfo(skb)->frag_list = NULL;
		skb_shinfo(skb)->nr_frags = 0;
	} else {
		for (i = 0; i < shared.nr_frags; i++)
			get_page(skb_frag_page(&shared.frags[i]));
		if (shared.frag_list)
			skb_get(shared.frag_list);
	}
	if (!skb->sk)
		skb->truesize += size - old.end;
	skb->head = data;
	skb->data = data + (unsigned int)nhead + skb_headroom(&old);
	skb->tail += (unsigned int)nhead;
	skb->end = size;
	skb->kapi_small = small;
	skb->head_frag = 0;
	skb->cloned = 0;
	if (skb_mac_header_was_set(skb))
		skb->mac_header = (u16)(skb->mac_header + nhead);
	if (skb_transport_header_was_set(skb))
		skb->transport_header = (u16)(skb->transport_header + nhead);
	skb->network_header = (u16)(skb->network_header + nhead);
	*skb_shinfo(skb) = shared;
	atomic_set(&skb_shinfo(skb)->dataref, 1);
	release_data(&old);
	return 0;
}

static void out_of_room(const char *what, const struct sk_buff *skb, unsigned int len)
{
	pr_emerg("%s: %u bytes do not fit, len %u head %p data %p tail %#x end %#x\n", what, len, skb->len, skb->head,
		 skb->data, skb->tail, skb->end);
	BUG();
}

void *skb_put(struct sk_buff *skb, unsigned int len)
{
	if (unlikely(skb_is_nonlinear(skb) || len > skb->end - skb->tail))
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
