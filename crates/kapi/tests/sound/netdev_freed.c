// Nothing is wrong here: a network device whose frames all come back.
// do: ifup eth0
// do: udp eth0 10.0.0.1 10.0.0.2 one
// do: udp eth0 10.0.0.1 10.0.0.2 two
// do: ifdown eth0
#include <linux/etherdevice.h>
#include <linux/module.h>

static struct net_device *dev;

static netdev_tx_t send(struct sk_buff *skb, struct net_device *dev)
{
	skb->protocol = eth_type_trans(skb, dev);
	dev->stats.tx_packets++;
	netif_rx(skb);
	return NETDEV_TX_OK;
}

static const struct net_device_ops ops = { .ndo_start_xmit = send };

static int __init begin(void)
{
	struct net_device *found;
	int error;

	dev = alloc_etherdev_mqs(100, 2, 2);
	if (!dev)
		return -ENOMEM;
	dev->netdev_ops = &ops;
	eth_hw_addr_random(dev);
	error = register_netdev(dev);
	if (error) {
		free_netdev(dev);
		return error;
	}
	found = dev_get_by_index(&init_net, dev->ifindex);
	if (found == dev)
		dev_put(found);
	return 0;
}

static void __exit end(void)
{
	unregister_netdev(dev);
	free_netdev(dev);
}

module_init(begin);
module_exit(end);
MODULE_LICENSE("GPL");
