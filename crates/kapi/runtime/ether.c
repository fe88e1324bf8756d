// SPDX-License-Identifier: MIT OR Apache-2.0
// Network devices of Ethernet, counters of devices, and what their messages begin with.
#include "host.h"
#include <linux/etherdevice.h>
#include <linux/ethtool.h>
#include <linux/kernel.h>
#include <linux/netdevice.h>

static const struct header_ops eth_header_ops = { .create = eth_header, .parse = eth_header_parse };

void ether_setup(struct net_device *dev)
{
	dev->header_ops = &eth_header_ops;
	dev->type = ARPHRD_ETHER;
	dev->hard_header_len = ETH_HLEN;
	dev->mtu = ETH_DATA_LEN;
	dev->min_mtu = ETH_MIN_MTU;
	dev->max_mtu = ETH_DATA_LEN;
	dev->addr_len = ETH_ALEN;
	dev->tx_queue_len = 1000;
	dev->flags = IFF_BROADCAST | IFF_MULTICAST;
	eth_broadcast_addr(dev->broadcast);
}

/* Addresses that a device listens to: one of each list, as often as it was added. */
static int add_addr(struct net_device *dev, struct netdev_hw_addr_list *list, const unsigned char *addr, unsigned long site)
{
	struct netdev_hw_addr *ha;

	netdev_hw_addr_list_for_each(ha, list)
		if (!memcmp(ha->addr, addr, dev->addr_len)) {
			ha->refcount++;
			return 0;
		}
	ha = kapi_kmalloc_for(sizeof(*ha), GFP_ATOMIC | __GFP_ZERO, site);
	if (!ha)
		return -ENOMEM;
	memcpy(ha->addr, addr, dev->addr_len);
	ha->refcount = 1;
	list_add_tail(&ha->list, &list->list);
	list->count++;
	return 0;
}

static int del_addr(struct net_device *dev, struct netdev_hw_addr_list *list, const unsigned char *addr, unsigned long site)
{
	struct netdev_hw_addr *ha;

	netdev_hw_addr_list_for_each(ha, list) {
		if (memcmp(ha->addr, addr, dev->addr_len))
			continue;
		if (--ha->refcount)
			return 0;
		list_del(&ha->list);
		list->count--;
		kapi_kfree_for(ha, site);
		return 0;
	}
	return -ENOENT;
}

static int changed(struct net_device *dev, int error)
{
	if (!error && (dev->flags & IFF_UP) && dev->netdev_ops->ndo_set_rx_mode)
		dev->netdev_ops->ndo_set_rx_mode(dev);
	return error;
}

int dev_mc_add(struct net_device *dev, const unsigned char *addr)
{
	return changed(dev, add_addr(dev, &dev->mc, addr, kapi_module_site()));
}

int dev_mc_del(struct net_device *dev, const unsigned char *addr)
{
	return changed(dev, del_addr(dev, &dev->mc, addr, kapi_module_site()));
}

int dev_uc_add(struct net_device *dev, const unsigned char *addr)
{
	return changed(dev, add_addr(dev, &dev->uc, addr, kapi_module_site()));
}

int dev_uc_del(struct net_device *dev, const unsigned char *addr)
{
	return changed(dev, del_addr(dev, &dev->uc, addr, kapi_module_site()));
}

/* With the device that they are of. */
static void free_of_device(void *dev) { free_netdev(dev); }
static void unregister_of_device(void *dev) { unregister_netdev(dev); }

struct net_device *devm_alloc_etherdev_mqs(struct device *dev, int size, unsigned int txqs, unsigned int rxqs)
{
	struct net_device *ndev = alloc_etherdev_mqs(size, txqs, rxqs);

	return ndev && devm_add_action_or_reset(dev, free_of_device, ndev) ? NULL : ndev;
}

int devm_register_netdev(struct device *dev, struct net_device *ndev)
{
	int error = register_netdev(ndev);

	return error ?: devm_add_action_or_reset(dev, unregister_of_device, ndev);
}

struct net_device *alloc_etherdev_mqs(int size, unsigned int txqs, unsigned int rxqs)
{
	return alloc_netdev_mqs(size, "eth%d", NET_NAME_ENUM, ether_setup, txqs, rxqs);
}

/* Return: the header's bytes, as a negative number where the receiver is not known. */
int eth_header(struct sk_buff *skb, struct net_device *dev, unsigned short type, const void *daddr, const void *saddr,
	       unsigned int len)
{
	struct ethhdr *eth = skb_push(skb, ETH_HLEN);

	eth->h_proto = htons(type != ETH_P_802_3 && type != ETH_P_802_2 ? type : (u16)len);
	memcpy(eth->h_source, saddr ?: dev->dev_addr, ETH_ALEN);
	if (daddr)
		memcpy(eth->h_dest, daddr, ETH_ALEN);
	else if (dev->flags & (IFF_LOOPBACK | IFF_NOARP))
		eth_zero_addr(eth->h_dest);
	else
		return -ETH_HLEN;
	return ETH_HLEN;
}

int eth_header_parse(const struct sk_buff *skb, unsigned char *haddr)
{
	memcpy(haddr, eth_hdr(skb)->h_source, ETH_ALEN);
	return ETH_ALEN;
}

int dev_hard_header(struct sk_buff *skb, struct net_device *dev, unsigned short type, const void *daddr, const void *saddr,
		    unsigned int len)
{
	const struct header_ops *ops = dev->header_ops;

	return ops && ops->create ? ops->create(skb, dev, type, daddr, saddr, len) : 0;
}

__be16 eth_type_trans(struct sk_buff *skb, struct net_device *dev)
{
	const struct ethhdr *eth;

	skb->dev = dev;
	skb_reset_mac_header(skb);
	eth = (const struct ethhdr *)skb->data;
	skb_pull(skb, ETH_HLEN);
	if (!ether_addr_equal(eth->h_dest, dev->dev_addr)) {
		if (is_broadcast_ether_addr(eth->h_dest))
			skb->pkt_type = PACKET_BROADCAST;
		else
			skb->pkt_type = is_multicast_ether_addr(eth->h_dest) ? PACKET_MULTICAST : PACKET_OTHERHOST;
	}
	return ntohs(eth->h_proto) >= ETH_P_802_3_MIN ? eth->h_proto : htons(ETH_P_802_2);
}

int eth_validate_addr(struct net_device *dev) { return is_valid_ether_addr(dev->dev_addr) ? 0 : -EADDRNOTAVAIL; }

int eth_mac_addr(struct net_device *dev, void *p)
{
	const struct sockaddr *addr = p;

	if (!(dev->priv_flags & IFF_LIVE_ADDR_CHANGE) && netif_running(dev))
		return -EBUSY;
	if (!is_valid_ether_addr((const u8 *)addr->sa_data))
		return -EADDRNOTAVAIL;
	eth_hw_addr_set(dev, (const u8 *)addr->sa_data);
	return 0;
}

int eth_change_mtu(struct net_device *dev, int mtu)
{
	if (mtu < ETH_MIN_MTU || mtu > ETH_DATA_LEN)
		return -EINVAL;
	dev->mtu = (unsigned int)mtu;
	return 0;
}

int dev_forward_skb(struct net_device *dev, struct sk_buff *skb)
{
	if (skb->len > dev->mtu + dev->hard_header_len || !(dev->flags & IFF_UP)) {
		dev_core_stats_rx_dropped_inc(dev);
		kfree_skb(skb);
		return NET_RX_DROP;
	}
	skb_orphan(skb);
	skb->pkt_type = PACKET_HOST;
	skb->protocol = eth_type_trans(skb, dev);
	return netif_rx(skb);
}

/* Counters. */
void netdev_stats_to_stats64(struct rtnl_link_stats64 *to, const struct net_device_stats *from)
{
	BUILD_BUG_ON(sizeof(*to) != sizeof(*from) + 2 * sizeof(u64));
	memcpy(to, from, sizeof(*from));
	to->rx_nohandler = to->rx_otherhost_dropped = 0;
}

void dev_lstats_read(struct net_device *dev, u64 *packets, u64 *bytes)
{
	unsigned int cpu;

	*packets = *bytes = 0;
	for_each_possible_cpu(cpu) {
		const struct pcpu_lstats *stats = per_cpu_ptr(dev->lstats, cpu);

		*packets += u64_stats_read(&stats->packets);
		*bytes += u64_stats_read(&stats->bytes);
	}
}

static void add_tstats(struct net_device *dev, struct rtnl_link_stats64 *to)
{
	unsigned int cpu;

	for_each_possible_cpu(cpu) {
		const struct pcpu_sw_netstats *stats = per_cpu_ptr(dev->tstats, cpu);

		to->rx_packets += u64_stats_read(&stats->rx_packets);
		to->rx_bytes += u64_stats_read(&stats->rx_bytes);
		to->tx_packets += u64_stats_read(&stats->tx_packets);
		to->tx_bytes += u64_stats_read(&stats->tx_bytes);
	}
}

void dev_get_tstats64(struct net_device *dev, struct rtnl_link_stats64 *to)
{
	netdev_stats_to_stats64(to, &dev->stats);
	add_tstats(dev, to);
}

struct rtnl_link_stats64 *dev_get_stats(struct net_device *dev, struct rtnl_link_stats64 *to)
{
	const struct net_device_ops *ops = dev->netdev_ops;

	memset(to, 0, sizeof(*to));
	if (ops->ndo_get_stats64) {
		ops->ndo_get_stats64(dev, to);
		to->rx_dropped += dev->stats.rx_dropped;
		to->tx_dropped += dev->stats.tx_dropped;
	} else if (ops->ndo_get_stats) {
		netdev_stats_to_stats64(to, ops->ndo_get_stats(dev));
	} else if (dev->pcpu_stat_type == NETDEV_PCPU_STAT_TSTATS) {
		dev_get_tstats64(dev, to);
	} else {
		netdev_stats_to_stats64(to, &dev->stats);
	}
	return to;
}

u32 ethtool_op_get_link(struct net_device *dev) { return netif_carrier_ok(dev); }

int ethtool_op_get_ts_info(struct net_device *dev, struct ethtool_ts_info *info)
{
	info->so_timestamping = 0x18;
	info->phc_index = -1;
	return 0;
}

void ethtool_puts(u8 **strings, const char *name)
{
	strscpy_pad((char *)*strings, name, ETH_GSTRING_LEN);
	*strings += ETH_GSTRING_LEN;
}

void ethtool_sprintf(u8 **strings, const char *fmt, ...)
{
	WITH_ARGS(fmt, vsnprintf((char *)*strings, ETH_GSTRING_LEN, fmt, args));
	*strings += ETH_GSTRING_LEN;
}

static const char *state_of(const struct net_device *dev)
{
	switch (dev->reg_state) {
	case NETREG_UNINITIALIZED:
		return " (uninitialized)";
	case NETREG_UNREGISTERING:
		return " (unregistering)";
	case NETREG_UNREGISTERED:
		return " (unregistered)";
	case NETREG_RELEASED:
		return " (released)";
	default:
		return "";
	}
}

void kapi_netdev_printk(const char *level, const struct net_device *dev, const char *fmt, ...)
{
	struct device *parent = dev->dev.parent;
	char text[512];

	WITH_ARGS(fmt, vsnprintf(text, sizeof(text), fmt, args));
	if (parent)
		printk("%s%s %s %s%s: %s", level, dev_driver_string(parent), dev_name(parent), netdev_name(dev), state_of(dev),
		       text);
	else
		printk("%s%s%s: %s", level, netdev_name(dev), state_of(dev), text);
}
