// leak
#include <linux/module.h>
#include <linux/skbuff.h>

static int __init begin(void)
{
	struct sk_buff *skb = alloc_skb(3000, GFP_KERNEL); // allocated by

	if (!skb)
		return -ENOMEM;
	kfree(skb);
	return 0;
}

static void __exit end(void)
{
}

module_init(begin);
module_exit(end);
MODULE_LICENSE("GPL");
