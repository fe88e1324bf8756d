// left behind: the packet handler `take` is still there
#include <linux/module.h>
#include <linux/netdevice.h>

static int take(struct sk_buff *skb, struct net_device *dev, struct packet_type *pt, struct net_device *orig)
{
	kfree_skb(skb);
	return 0;
}

static struct packet_type type = { .type = cpu_to_be16(ETH_P_ALL), .func = take };

static int __init begin(void)
{
	dev_add_pack(&type); // in
	return 0;
}

static void __exit end(void)
{
}

module_init(begin);
module_exit(end);
MODULE_LICENSE("GPL");
