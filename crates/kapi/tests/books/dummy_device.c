// A network device that swallows what it is given, with counters by CPU, a kind of its own, and what its users can ask.
#include <linux/etherdevice.h>
#include <linux/ethtool.h>
#include <linux/init.h>
#include <linux/module.h>
#include <linux/netdevice.h>
#include <linux/rtnetlink.h>
#include <net/rtnetlink.h>

static int devices = 2;
module_param(devices, int, 0);

struct swallow {
	unsigned long largest;
};

static netdev_tx_t swallow_xmit(struct sk_buff *skb, struct net_device *dev)
{
	struct swallow *priv = netdev_priv(dev);

	priv->largest = max_t(unsigned long, priv->largest, skb->len);
	dev_lstats_add(dev, skb->len);
	skb_tx_timestamp(skb);
	dev_kfree_skb(skb);
	return NETDEV_TX_OK;
}

static void swallow_stats(struct net_device *dev, struct rtnl_link_stats64 *stats)
{
	dev_lstats_read(dev, &stats->tx_packets, &stats->tx_bytes);
}

static int swallow_init(struct net_device *dev)
{
	dev->lstats = netdev_alloc_pcpu_stats(struct pcpu_lstats);
	return dev->lstats ? 0 : -ENOMEM;
}

static void swallow_uninit(struct net_device *dev)
{
	free_percpu(dev->lstats);
}

static int swallow_carrier(struct net_device *dev, bool on)
{
	if (on)
		netif_carrier_on(dev);
	else
		netif_carrier_off(dev);
	return 0;
}

static const struct net_device_ops swallow_ops = {
	.ndo_init = swallow_init,
	.ndo_uninit = swallow_uninit,
	.ndo_start_xmit = swallow_xmit,
	.ndo_validate_addr = eth_validate_addr,
	.ndo_set_mac_address = eth_mac_addr,
	.ndo_get_stats64 = swallow_stats,
	.ndo_change_carrier = swallow_carrier,
};

static const char names[][ETH_GSTRING_LEN] = { "largest_frame" };

static void swallow_drvinfo(struct net_device *dev, struct ethtool_drvinfo *info)
{
	strscpy(info->driver, "swallow", sizeof(info->driver));
}

static void swallow_strings(struct net_device *dev, u32 set, u8 *strings)
{
	if (set == ETH_SS_STATS)
		memcpy(strings, names, sizeof(names));
}

static int swallow_count(struct net_device *dev, int set)
{
	return set == ETH_SS_STATS ? ARRAY_SIZE(names) : -EOPNOTSUPP;
}

static void swallow_numbers(struct net_device *dev, struct ethtool_stats *stats, u64 *numbers)
{
	struct swallow *priv = netdev_priv(dev);

	numbers[0] = priv->largest;
}

static const struct ethtool_ops swallow_ethtool_ops = {
	.get_drvinfo = swallow_drvinfo,
	.get_link = ethtool_op_get_link,
	.get_strings = swallow_strings,
	.get_sset_count = swallow_count,
	.get_ethtool_stats = swallow_numbers,
};

static void swallow_setup(struct net_device *dev)
{
	ether_setup(dev);
	dev->netdev_ops = &swallow_ops;
	dev->ethtool_ops = &swallow_ethtool_ops;
	dev->needs_free_netdev = true;
	dev->flags |= IFF_NOARP;
	dev->flags &= ~IFF_MULTICAST;
	dev->features |= NETIF_F_SG | NETIF_F_HW_CSUM;
	dev->min_mtu = 0;
	dev->max_mtu = 0;
	eth_hw_addr_random(dev);
}

static int swallow_validate(struct nlattr *tb[], struct nlattr *data[], struct netlink_ext_ack *extack)
{
	return 0;
}

static struct rtnl_link_ops swallow_link_ops = {
	.kind = "swallow",
	.setup = swallow_setup,
	.validate = swallow_validate,
	.priv_size = sizeof(struct swallow),
};

static int __init one_device(void)
{
	struct net_device *dev = alloc_netdev(sizeof(struct swallow), "swallow%d", NET_NAME_ENUM, swallow_setup);
	int error;

	if (!dev)
		return -ENOMEM;
	dev->rtnl_link_ops = &swallow_link_ops;
	error = register_netdevice(dev);
	if (error < 0) {
		free_netdev(dev);
		return error;
	}
	netdev_info(dev, "index %s, unicast %d, mtu %u\n", dev->ifindex > 1 ? "given" : "missing",
		    is_valid_ether_addr(dev->dev_addr), dev->mtu);
	return 0;
}

static int __init swallow_module_init(void)
{
	int i, error;

	rtnl_lock();
	error = __rtnl_link_register(&swallow_link_ops);
	for (i = 0; i < devices && !error; i++)
		error = one_device();
	if (error)
		__rtnl_link_unregister(&swallow_link_ops);
	rtnl_unlock();
	return error;
}

static void __exit swallow_module_exit(void)
{
	rtnl_link_unregister(&swallow_link_ops);
}

module_init(swallow_module_init);
module_exit(swallow_module_exit);
MODULE_LICENSE("GPL");
