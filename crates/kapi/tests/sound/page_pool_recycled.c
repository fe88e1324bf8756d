// Nothing is wrong here: pages of a pool come back by frames, after the pool is destroyed, too.
#include <linux/module.h>
#include <linux/skbuff.h>
#include <linux/version.h>
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 6, 0)
#include <net/page_pool/helpers.h>
#else
#include <net/page_pool.h>
#endif

static struct page_pool *pool;

static struct sk_buff *frame(void)
{
	struct page *page = page_pool_dev_alloc_pages(pool);
	struct sk_buff *skb;

	if (!page)
		return NULL;
	skb = napi_build_skb(page_address(page), PAGE_SIZE);
	if (!skb) {
		page_pool_put_full_page(pool, page, false);
		return NULL;
	}
	skb_mark_for_recycle(skb);
	skb_put_zero(skb, 100);
	return skb;
}

static int __init begin(void)
{
	struct page_pool_params params = { .pool_size = 16, .nid = NUMA_NO_NODE };
	struct sk_buff *skb, *clone;
	int i;

	pool = page_pool_create(&params);
	if (IS_ERR(pool))
		return PTR_ERR(pool);
	for (i = 0; i < 200; i++) {
		skb = frame();
		clone = skb ? skb_clone(skb, GFP_KERNEL) : NULL;
		kfree_skb(skb);
		kfree_skb(clone);
	}
	skb = frame();
	page_pool_destroy(pool);
	kfree_skb(skb);
	return 0;
}

static void __exit end(void)
{
}

module_init(begin);
module_exit(end);
MODULE_LICENSE("GPL");
