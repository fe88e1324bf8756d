// leak
#include <linux/module.h>
#include <linux/skbuff.h>

static struct sk_buff *skb;

static int __init begin(void)
{
	skb = alloc_skb(100, GFP_KERNEL); // allocated by
	return skb ? 0 : -ENOMEM;
}

static void __exit end(void)
{
}

module_init(begin);
module_exit(end);
MODULE_LICENSE("GPL");
