// Two network devices with a cable between them, as books on drivers show them: a packet that one sends comes out of the
// other one, with the third byte of both addresses changed, so that each end sees the other's network. With use_napi=1
// frames wait for a poller.
#include <linux/etherdevice.h>
#include <linux/ethtool.h>
#include <linux/in.h>
#include <linux/interrupt.h>
#include <linux/ip.h>
#include <linux/module.h>
#include <linux/netdevice.h>
#include <linux/skbuff.h>
#include <linux/slab.h>
#include <linux/version.h>

#define POOL_SIZE 4

static bool use_napi;
module_param(use_napi, bool, 0444);

struct packet {
	struct packet *next;
	struct net_device *dev;
	int len;
	u8 data[ETH_DATA_LEN + ETH_HLEN];
};

struct end {
	struct net_device *dev;
	struct net_device_stats stats;
	struct napi_struct napi;
	struct packet *free, *arrived;
	struct sk_buff *sending;
	bool rx_on;
	spinlock_t lock;
};

static struct net_device *ends[2];

static int make_pool(struct end *end)
{
	int i;

	for (i = 0; i < POOL_SIZE; i++) {
		struct packet *packet = kmalloc(sizeof(*packet), GFP_KERNEL);

		if (!packet)
			return -ENOMEM;
		packet->dev = end->dev;
		packet->next = end->free;
		end->free = packet;
	}
	return 0;
}

static void drop_packets(struct packet *packet)
{
	struct packet *next;

	for (; packet; packet = next) {
		next = packet->next;
		kfree(packet);
	}
}

/* What arrived while the device was down is of the other one's pool, and is freed here. */
static void drop_pool(struct end *end)
{
	drop_packets(end->free);
	drop_packets(end->arrived);
}

static struct packet *take_packet(struct end *end)
{
	struct packet *packet;
	unsigned long flags;

	spin_lock_irqsave(&end->lock, flags);
	packet = end->free;
	end->free = packet->next;
	if (!end->free)
		netif_stop_queue(end->dev);
	spin_unlock_irqrestore(&end->lock, flags);
	return packet;
}

static void put_packet(struct packet *packet)
{
	struct end *end = netdev_priv(packet->dev);
	unsigned long flags;

	spin_lock_irqsave(&end->lock, flags);
	packet->next = end->free;
	end->free = packet;
	spin_unlock_irqrestore(&end->lock, flags);
	if (netif_queue_stopped(end->dev) && !packet->next)
		netif_wake_queue(end->dev);
}

static struct sk_buff *frame_of(struct net_device *dev, const struct packet *packet)
{
	struct end *end = netdev_priv(dev);
	struct sk_buff *skb = dev_alloc_skb(packet->len + 2);

	if (!skb) {
		end->stats.rx_dropped++;
		return NULL;
	}
	skb_reserve(skb, 2);
	memcpy(skb_put(skb, packet->len), packet->data, packet->len);
	skb->protocol = eth_type_trans(skb, dev);
	skb->ip_summed = CHECKSUM_UNNECESSARY;
	end->stats.rx_packets++;
	end->stats.rx_bytes += packet->len;
	return skb;
}

static int poll_end(struct napi_struct *napi, int budget)
{
	struct end *end = container_of(napi, struct end, napi);
	struct packet *packet;
	unsigned long flags;
	int done = 0;

	while (done < budget && end->arrived) {
		struct sk_buff *skb;

		spin_lock_irqsave(&end->lock, flags);
		packet = end->arrived;
		end->arrived = packet->next;
		spin_unlock_irqrestore(&end->lock, flags);
		skb = frame_of(end->dev, packet);
		if (skb)
			netif_receive_skb(skb);
		put_packet(packet);
		done++;
	}
	if (done < budget && napi_complete_done(napi, done))
		end->rx_on = true;
	return done;
}

/* What the hardware would do: an interrupt for the receiver, then one for the sender. */
static void arrived(struct net_device *dev, struct packet *packet)
{
	struct end *end = netdev_priv(dev);
	struct sk_buff *skb;

	spin_lock(&end->lock);
	if (use_napi) {
		packet->next = end->arrived;
		end->arrived = packet;
		if (end->rx_on) {
			end->rx_on = false;
			napi_schedule(&end->napi);
		}
		spin_unlock(&end->lock);
		return;
	}
	skb = frame_of(dev, packet);
	spin_unlock(&end->lock);
	if (skb)
		netif_rx(skb);
	put_packet(packet);
}

static void sent(struct net_device *dev)
{
	struct end *end = netdev_priv(dev);

	spin_lock(&end->lock);
	end->stats.tx_packets++;
	end->stats.tx_bytes += end->sending->len;
	dev_kfree_skb(end->sending);
	end->sending = NULL;
	spin_unlock(&end->lock);
}

static void to_wire(struct net_device *dev, const u8 *data, int len)
{
	struct net_device *other = ends[dev == ends[0]];
	struct packet *packet;
	struct iphdr *ip;

	if (len < (int)(sizeof(struct ethhdr) + sizeof(struct iphdr))) {
		netdev_info(dev, "a packet of %d bytes is too short\n", len);
		return;
	}
	packet = take_packet(netdev_priv(dev));
	packet->len = len;
	memcpy(packet->data, data, len);
	ip = (struct iphdr *)(packet->data + sizeof(struct ethhdr));
	((u8 *)&ip->saddr)[2] ^= 1;
	((u8 *)&ip->daddr)[2] ^= 1;
	ip->check = 0;
	ip->check = ip_fast_csum((unsigned char *)ip, ip->ihl);
	arrived(other, packet);
}

static netdev_tx_t end_xmit(struct sk_buff *skb, struct net_device *dev)
{
	struct end *end = netdev_priv(dev);
	u8 shortest[ETH_ZLEN];
	u8 *data = skb->data;
	int len = skb->len;

	if (len < ETH_ZLEN) {
		memset(shortest, 0, sizeof(shortest));
		memcpy(shortest, data, len);
		data = shortest;
		len = ETH_ZLEN;
	}
#if LINUX_VERSION_CODE >= KERNEL_VERSION(4, 7, 0)
	netif_trans_update(dev);
#else
	dev->trans_start = jiffies;
#endif
	end->sending = skb;
	to_wire(dev, data, len);
	sent(dev);
	return NETDEV_TX_OK;
}

static int end_open(struct net_device *dev)
{
	struct end *end = netdev_priv(dev);
	u8 address[ETH_ALEN] = "\0SNUL0";

	if (dev == ends[1])
		address[ETH_ALEN - 1]++;
	eth_hw_addr_set(dev, address);
	if (use_napi)
		napi_enable(&end->napi);
	end->rx_on = true;
	netif_start_queue(dev);
	return 0;
}

static int end_stop(struct net_device *dev)
{
	struct end *end = netdev_priv(dev);

	netif_stop_queue(dev);
	if (use_napi)
		napi_disable(&end->napi);
	return 0;
}

static struct net_device_stats *end_stats(struct net_device *dev)
{
	struct end *end = netdev_priv(dev);

	return &end->stats;
}

static int end_header(struct sk_buff *skb, struct net_device *dev, unsigned short type, const void *daddr, const void *saddr,
		      unsigned len)
{
	struct ethhdr *eth = (struct ethhdr *)skb_push(skb, ETH_HLEN);

	eth->h_proto = htons(type);
	memcpy(eth->h_source, saddr ? saddr : dev->dev_addr, dev->addr_len);
	memcpy(eth->h_dest, daddr ? daddr : dev->dev_addr, dev->addr_len);
	eth->h_dest[ETH_ALEN - 1] ^= 1;
	return dev->hard_header_len;
}

static void end_timeout(struct net_device *dev, unsigned int txqueue)
{
	netif_wake_queue(dev);
}

static const struct header_ops end_header_ops = { .create = end_header };
static const struct net_device_ops end_ops = {
	.ndo_open = end_open,
	.ndo_stop = end_stop,
	.ndo_start_xmit = end_xmit,
	.ndo_get_stats = end_stats,
	.ndo_tx_timeout = end_timeout,
};

static void end_drvinfo(struct net_device *dev, struct ethtool_drvinfo *info)
{
	strscpy(info->driver, "snull_pair", sizeof(info->driver));
	strscpy(info->version, "1", sizeof(info->version));
}

static const struct ethtool_ops end_ethtool_ops = { .get_drvinfo = end_drvinfo, .get_link = ethtool_op_get_link };

static void end_setup(struct net_device *dev)
{
	struct end *end = netdev_priv(dev);

	ether_setup(dev);
	dev->watchdog_timeo = 5 * HZ;
	dev->netdev_ops = &end_ops;
	dev->header_ops = &end_header_ops;
	dev->ethtool_ops = &end_ethtool_ops;
	dev->flags |= IFF_NOARP;
	dev->features |= NETIF_F_HW_CSUM;
	memset(end, 0, sizeof(*end));
	end->dev = dev;
	spin_lock_init(&end->lock);
	if (use_napi)
		netif_napi_add(dev, &end->napi, poll_end);
}

static void pair_exit(void)
{
	int i;

	for (i = 0; i < 2; i++)
		if (ends[i]) {
			unregister_netdev(ends[i]);
			drop_pool(netdev_priv(ends[i]));
			free_netdev(ends[i]);
		}
}

static int __init pair_init(void)
{
	int i, error = 0;

	for (i = 0; i < 2; i++) {
		ends[i] = alloc_netdev(sizeof(struct end), "sn%d", NET_NAME_UNKNOWN, end_setup);
		if (!ends[i])
			return -ENOMEM;
	}
	for (i = 0; i < 2 && !error; i++) {
		error = make_pool(netdev_priv(ends[i]));
		if (!error)
			error = register_netdev(ends[i]);
		if (error)
			pr_err("error %d registering device %s\n", error, ends[i]->name);
	}
	if (error)
		pair_exit();
	return error;
}

module_init(pair_init);
module_exit(pair_exit);
MODULE_LICENSE("Dual BSD/GPL");
