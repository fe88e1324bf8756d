// Nothing is wrong here: frames of each size, with pages, in pieces, pulled, padded and trimmed.
#include <linux/module.h>
#include <linux/netdevice.h>
#include <linux/skbuff.h>

static int __init begin(void)
{
	static const unsigned int sizes[] = { 60, 500, 1500, 3000, 9000 };
	int i;

	for (i = 0; i < 100; i++) {
		struct sk_buff *skb = netdev_alloc_skb(NULL, sizes[i % ARRAY_SIZE(sizes)]), *clone;
		struct page *page = alloc_page(GFP_KERNEL);

		if (!skb || !page)
			return -ENOMEM;
		skb_put_zero(skb, 40);
		skb_add_rx_frag(skb, 0, page, 100, 1000, PAGE_SIZE);
		clone = skb_clone(skb, GFP_KERNEL);
		if (clone && i % 2 && skb_linearize(clone))
			return -ENOMEM;
		if (!pskb_may_pull(skb, 200))
			return -EIO;
		kfree_skb(skb);
		if (clone && skb_put_padto(clone, 2000))
			return -ENOMEM;
		kfree_skb(clone);
	}
	return 0;
}

static void __exit end(void)
{
}

module_init(begin);
module_exit(end);
MODULE_LICENSE("GPL");
