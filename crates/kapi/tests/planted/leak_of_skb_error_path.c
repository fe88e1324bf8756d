// leak
// do: ifup eth0
// do: udp eth0 10.0.0.1 10.0.0.2 first
#include <linux/etherdevice.h>
#include <linux/module.h>

static int fill(struct sk_buff *copy, const struct sk_buff *skb)
{
	if (skb->len > 1000)
		skb_put_data(copy, skb->data, skb->len);
	return skb->len > 1000 ? 0 : -EMSGSIZE;
}

static netdev_tx_t send(struct sk_buff *skb, struct net_device *dev)
{
	struct sk_buff *copy = netdev_alloc_skb(dev, 2048); // allocated by

	if (!copy)
		goto out;
	if (fill(copy, skb)) {
		dev->stats.tx_errors++;
		goto out;
	}
	copy->protocol = eth_type_trans(copy, dev);
	netif_rx(copy);
out:
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
