// The receiving half of a driver with a pool of pages: a ring of pages for the hardware, frames that have them behind their
// data, and pages that come back to the pool when the frames are freed.
#include <linux/etherdevice.h>
#include <linux/module.h>
#include <linux/netdevice.h>
#include <linux/skbuff.h>
#include <linux/version.h>
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 6, 0)
#include <net/page_pool/helpers.h>
#else
#include <net/page_pool.h>
#endif

#define RING 8
#define HEADER 128

static struct page_pool *pool;
static struct page *ring[RING];

static int fill_ring(void)
{
	int i;

	for (i = 0; i < RING; i++) {
		ring[i] = page_pool_dev_alloc_pages(pool);
		if (!ring[i])
			return -ENOMEM;
	}
	return 0;
}

/* As the hardware would write it. */
static void arrive(struct page *page, int len)
{
	memset(page_address(page), 0x42, len);
}

static struct sk_buff *frame_of(struct page *page, int len)
{
	struct sk_buff *skb = napi_alloc_skb(NULL, HEADER);

	if (!skb) {
		page_pool_recycle_direct(pool, page);
		return NULL;
	}
	skb_put_data(skb, page_address(page), HEADER);
	skb_add_rx_frag(skb, 0, page, HEADER, len - HEADER, PAGE_SIZE);
	skb_mark_for_recycle(skb);
	return skb;
}

static void receive_all(const char *when)
{
	unsigned int bytes = 0, truesize = 0;
	int i;

	for (i = 0; i < RING; i++) {
		struct sk_buff *skb;

		arrive(ring[i], 1500);
		skb = frame_of(ring[i], 1500);
		if (!skb)
			continue;
		bytes += skb->len;
		truesize = skb->truesize;
		if (i == 0)
			pr_info("pool: %u bytes, %u of them in %u page, check sum %d\n", skb->len, skb->data_len,
				skb_shinfo(skb)->nr_frags, skb_frag_size(&skb_shinfo(skb)->frags[0]) == 1500 - HEADER);
		kfree_skb(skb);
		ring[i] = NULL;
	}
	fill_ring();
	pr_info("pool: %s: %u bytes, truesize of a page and more %d\n", when, bytes, truesize > PAGE_SIZE);
}

static void pieces(void)
{
	unsigned int first, second, size = 600;
	struct page *a = page_pool_dev_alloc_frag(pool, &first, 1024), *b = page_pool_dev_alloc_frag(pool, &second, 1024);
	void *va;

	pr_info("pool: pieces at %u and %u, one page %d\n", first, second, a == b);
	page_pool_put_full_page(pool, a, false);
	page_pool_put_full_page(pool, b, false);
	va = page_pool_dev_alloc_va(pool, &size);
	pr_info("pool: %u bytes at a page's start %d\n", size, offset_in_page(va) == 0);
	page_pool_free_va(pool, va, false);
	a = page_pool_dev_alloc_pages(pool);
	page_pool_recycle_direct(pool, a);
	b = page_pool_dev_alloc_pages(pool);
	pr_info("pool: the page that came last is the first again %d\n", a == b);
	page_pool_recycle_direct(pool, b);
}

static int __init pool_init(void)
{
	struct page_pool_params params = {
		.order = 0,
		.flags = PP_FLAG_DMA_MAP,
		.pool_size = 64,
		.nid = NUMA_NO_NODE,
		.dma_dir = DMA_FROM_DEVICE,
		.offset = NET_SKB_PAD,
		.max_len = PAGE_SIZE,
	};
	struct page_pool_params bad = params;
	int error;

	bad.pool_size = 100000;
	pr_info("pool: too large %ld", PTR_ERR(page_pool_create(&bad)));
	bad.pool_size = 0;
	bad.dma_dir = DMA_TO_DEVICE;
	pr_cont(", wrong direction %ld\n", PTR_ERR(page_pool_create(&bad)));
	pool = page_pool_create(&params);
	if (IS_ERR(pool))
		return PTR_ERR(pool);
	error = fill_ring();
	if (error)
		return error;
	pr_info("pool: the device's address %d, direction %d\n",
		page_pool_get_dma_addr(ring[0]) == page_to_phys(ring[0]), page_pool_get_dma_dir(pool) == DMA_FROM_DEVICE);
	receive_all("at first");
	receive_all("again");
	pieces();
	return 0;
}

static void __exit pool_exit(void)
{
	int i;

	for (i = 0; i < RING; i++)
		page_pool_put_full_page(pool, ring[i], false);
	page_pool_destroy(pool);
}

module_init(pool_init);
module_exit(pool_exit);
MODULE_LICENSE("GPL");
