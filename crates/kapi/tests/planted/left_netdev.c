// left behind: the network device `sw0` is still there
#include <linux/etherdevice.h>
#include <linux/module.h>

static netdev_tx_t send(struct sk_buff *skb, struct net_device *dev)
{
	dev_kfree_skb(skb);
	return NETDEV_TX_OK;
}

static const struct net_device_ops ops = { .ndo_start_xmit = send };
static struct net_device *dev;

static void setup(struct net_device *dev)
{
	ether_setup(dev);
	dev->netdev_ops = &ops;
}

static int __init begin(void)
{
	dev = alloc_netdev(0, "sw%d", NET_NAME_ENUM, setup); // allocated by
	return dev ? register_netdev(dev) : -ENOMEM; // in
}

static void __exit end(void)
{
}

module_init(begin);
module_exit(end);
MODULE_LICENSE("GPL");
