// SPDX-License-Identifier: MIT OR Apache-2.0
// What steps of --do ask of network devices: up and down, a frame to send, frames that came, counters, and names.
//
// How it works: a frame that a step sends is entered as allocated where the driver's ndo_start_xmit() begins, as it is that
// one which has to free it.
#include "host.h"
#include <linux/etherdevice.h>
#include <linux/ethtool.h>
#include <linux/ip.h>
#include <linux/kernel.h>
#include <linux/netdevice.h>
#include <linux/rtnetlink.h>

long kapi_net_up(const char *name, bool up)
{
	struct net_device *dev;
	long error = 0;

	rtnl_lock();
	dev = __dev_get_by_name(&init_net, name);
	if (!dev)
		error = -ENODEV;
	else if (up)
		error = kapi_dev_open(dev);
	else
		dev_close(dev);
	rtnl_unlock();
	return error;
}

static void fill(struct sk_buff *skb, const struct net_device *dev, __be32 from, __be32 to, const char *text, size_t len)
{
	struct udphdr *udp;
	struct iphdr *ip;

	skb_put_data(skb, text, (unsigned int)len);
	udp = skb_push(skb, sizeof(*udp));
	*udp = (struct udphdr){ .source = htons(4711), .dest = htons(9), .len = htons((u16)skb->len) };
	skb_reset_transport_header(skb);
	ip = skb_push(skb, sizeof(*ip));
	*ip = (struct iphdr){ .ihl = 5, .version = 4, .tot_len = htons((u16)skb->len), .ttl = 64, .protocol = IPPROTO_UDP,
			      .saddr = from, .daddr = to };
	ip->check = ip_fast_csum(ip, ip->ihl);
	skb_reset_network_header(skb);
	skb->protocol = htons(ETH_P_IP);
}

/* Sends a datagram by a device, and waits until it has arrived somewhere. */
long kapi_net_udp(const char *name, __be32 from, __be32 to, const char *text, size_t len)
{
	struct net_device *dev = __dev_get_by_name(&init_net, name);
	unsigned int front, all;
	struct sk_buff *skb;
	long result;

	if (!dev)
		return -ENODEV;
	front = SKB_DATA_ALIGN(dev->hard_header_len + dev->needed_headroom + 16U);
	all = (unsigned int)(len + sizeof(struct iphdr) + sizeof(struct udphdr));
	if (dev->mtu && all > dev->mtu)
		return -EMSGSIZE;
	skb = kapi_skb_for(front + all + dev->needed_tailroom, GFP_KERNEL, (unsigned long)dev->netdev_ops->ndo_start_xmit + 1);
	if (!skb)
		return -ENOBUFS;
	skb_reserve(skb, (int)(front + sizeof(struct iphdr) + sizeof(struct udphdr)));
	skb->dev = dev;
	fill(skb, dev, from, to, text, len);
	if (dev_hard_header(skb, dev, ETH_P_IP, dev->flags & IFF_NOARP ? dev->dev_addr : dev->broadcast, NULL, skb->len) < 0) {
		kfree_skb(skb);
		return -EHOSTUNREACH;
	}
	result = dev_queue_xmit(skb);
	kapi_net_settle();
	return result;
}

/* What a device received since it was asked last. Return: how many frames. */
long kapi_net_received(const char *name, char *buf, size_t size, size_t *out)
{
	struct net_device *dev = __dev_get_by_name(&init_net, name);
	char line[128];
	long n;

	if (!dev)
		return -ENODEV;
	kapi_net_settle();
	for (n = 0; kapi_net_line(dev->ifindex, line, sizeof(line)); n++)
		*out += (size_t)scnprintf(buf + *out, size - *out, "%s%s", n ? "; " : "", line);
	return n;
}

long kapi_net_stat(const char *name, char *buf, size_t size, size_t *out)
{
	struct net_device *dev = __dev_get_by_name(&init_net, name);
	struct rtnl_link_stats64 s;

	if (!dev)
		return -ENODEV;
	kapi_net_settle();
	dev_get_stats(dev, &s);
	*out = (size_t)scnprintf(buf, size, "%s mtu %u, rx %llu packets %llu bytes %llu dropped, tx %llu packets %llu bytes "
				 "%llu dropped, errors %llu %llu", dev->flags & IFF_UP ? "up" : "down", dev->mtu, s.rx_packets,
				 s.rx_bytes, s.rx_dropped, s.tx_packets, s.tx_bytes, s.tx_dropped, s.rx_errors, s.tx_errors);
	return 0;
}

static size_t describe_numbers(struct net_device *dev, const struct ethtool_ops *ops, char *buf, size_t size)
{
	int n = ops->get_sset_count ? ops->get_sset_count(dev, ETH_SS_STATS) : 0, i;
	struct ethtool_stats header = { .n_stats = (u32)n };
	size_t bytes, at = 0;
	u64 *numbers;
	u8 *names;

	if (n <= 0 || !ops->get_strings || !ops->get_ethtool_stats)
		return 0;
	bytes = (size_t)n * (ETH_GSTRING_LEN + sizeof(u64));
	numbers = kapi_alloc(bytes);
	if (!numbers)
		return 0;
	names = (u8 *)(numbers + n);
	ops->get_strings(dev, ETH_SS_STATS, names);
	ops->get_ethtool_stats(dev, &header, numbers);
	for (i = 0; i < n; i++)
		at += (size_t)scnprintf(buf + at, size - at, ", %.31s %llu", (char *)names + i * ETH_GSTRING_LEN, numbers[i]);
	kapi_free(numbers, bytes);
	return at;
}

long kapi_net_ethtool(const char *name, char *buf, size_t size, size_t *out)
{
	struct net_device *dev = __dev_get_by_name(&init_net, name);
	const struct ethtool_ops *ops = dev ? dev->ethtool_ops : NULL;
	struct ethtool_drvinfo info = { };

	if (!dev)
		return -ENODEV;
	if (!ops)
		return -EOPNOTSUPP;
	rtnl_lock();
	if (ops->get_drvinfo)
		ops->get_drvinfo(dev, &info);
	*out = (size_t)scnprintf(buf, size, "driver %s, version %s", info.driver[0] ? info.driver : "unknown",
				 info.version[0] ? info.version : "unknown");
	if (ops->get_link)
		*out += (size_t)scnprintf(buf + *out, size - *out, ", link %s", ops->get_link(dev) ? "yes" : "no");
	*out += describe_numbers(dev, ops, buf + *out, size - *out);
	rtnl_unlock();
	return 0;
}
