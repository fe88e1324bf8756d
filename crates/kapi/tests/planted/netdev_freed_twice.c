// double free
#include <linux/etherdevice.h>
#include <linux/module.h>

static netdev_tx_t send(struct sk_buff *skb, struct net_device *dev)
{
	dev_kfree_skb(skb);
	return NETDEV_TX_OK;
}

static const struct net_device_ops ops = { .ndo_start_xmit = send };
static struct net_device *dev;

static int __init begin(void)
{
	int error;

	dev = alloc_etherdev(64); // allocated by
	if (!dev)
		return -ENOMEM;
	dev->netdev_ops = &ops;
	error = register_netdev(dev);
	if (error)
		free_netdev(dev);
	return error;
}

static void __exit end(void)
{
	unregister_netdev(dev);
	free_netdev(dev); // freed before by
	free_netdev(dev); // in
}

module_init(begin);
module_exit(end);
MODULE_LICENSE("GPL");
