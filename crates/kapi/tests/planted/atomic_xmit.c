// sleep in atomic context: kmalloc() with GFP_KERNEL may sleep
// do: ifup eth0
// do: udp eth0 10.0.0.1 10.0.0.2 slow
#include <linux/etherdevice.h>
#include <linux/module.h>
#include <linux/slab.h>

static netdev_tx_t send(struct sk_buff *skb, struct net_device *dev)
{
	kfree(kmalloc(64, GFP_KERNEL)); // in
	dev_kfree_skb(skb);
	return NETDEV_TX_OK;
}

static const struct net_device_ops ops = { .ndo_start_xmit = send };
static struct net_device *dev;

static int __init begin(void)
{
	int error;

	dev = alloc_etherdev(0);
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
	free_netdev(dev);
}

module_init(begin);
module_exit(end);
MODULE_LICENSE("GPL");
