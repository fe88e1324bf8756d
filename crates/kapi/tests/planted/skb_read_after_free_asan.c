// asan: use-after-poison
#include <linux/etherdevice.h>
#include <linux/module.h>

static unsigned int bytes;

static int __init begin(void)
{
	struct sk_buff *skb = alloc_skb(100, GFP_KERNEL);

	if (!skb)
		return -ENOMEM;
	skb_put(skb, 60);
	kfree_skb(skb);
	bytes += READ_ONCE(skb->len); // in
	return 0;
}

static void __exit end(void)
{
}

module_init(begin);
module_exit(end);
MODULE_LICENSE("GPL");
