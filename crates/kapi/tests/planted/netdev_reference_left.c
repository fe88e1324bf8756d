// the network device `eth0` is unregistered with 1 references, and never becomes free
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

	dev = alloc_etherdev(64);
	if (!dev)
		return -ENOMEM;
	dev->netdev_ops = &ops;
	error = register_netdev(dev);
	if (error)
		free_netdev(dev);
	else
		pr_info("index %d\n", dev_get_by_name(&init_net, "eth0")->ifindex > 0);
	return error;
}

static void __exit end(void)
{
	unregister_netdev(dev); // in
	free_netdev(dev);
}

module_init(begin);
module_exit(end);
MODULE_LICENSE("GPL");
