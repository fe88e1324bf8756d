// What a module sends last is received when it is gone: neither the frame nor who receives it is left of the module.
#include <linux/etherdevice.h>
#include <linux/module.h>

static int send(struct net_device *dev)
{
	struct sk_buff *skb = netdev_alloc_skb(dev, 64);

	if (!skb)
		return -ENOMEM;
	skb_put_zero(skb, ETH_ZLEN);
	skb->protocol = eth_type_trans(skb, dev);
	netif_rx(skb);
	return 0;
}

static int __init begin(void)
{
	struct net_device *lo = dev_get_by_name(&init_net, "lo");
	int error = lo ? send(lo) : -ENODEV;

	dev_put(lo);
	return error;
}

static void __exit end(void)
{
	struct net_device *lo = dev_get_by_name(&init_net, "lo");

	if (lo)
		send(lo);
	dev_put(lo);
}

module_init(begin);
module_exit(end);
MODULE_LICENSE("GPL");
