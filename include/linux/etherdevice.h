/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Network devices of Ethernet: their addresses, and the headers of their frames. */
#ifndef _LINUX_ETHERDEVICE_H
#define _LINUX_ETHERDEVICE_H

#include <linux/if_ether.h>
#include <linux/netdevice.h>
#include <linux/random.h>
#include <linux/string.h>

extern void ether_setup(struct net_device *dev);
extern struct net_device *alloc_etherdev_mqs(int size, unsigned int txqs, unsigned int rxqs);
static inline struct net_device *alloc_etherdev_mq(int size, unsigned int count)
{
	return alloc_etherdev_mqs(size, count, count);
}
/* Goes with a device of the bus. */
extern struct net_device *devm_alloc_etherdev_mqs(struct device *dev, int size, unsigned int txqs, unsigned int rxqs);
#define devm_alloc_etherdev(dev, size) devm_alloc_etherdev_mqs(dev, size, 1, 1)
static inline struct net_device *alloc_etherdev(int size) { return alloc_etherdev_mqs(size, 1, 1); }
extern int eth_header(struct sk_buff *skb, struct net_device *dev, unsigned short type, const void *daddr,
		      const void *saddr, unsigned int len);
extern int eth_header_parse(const struct sk_buff *skb, unsigned char *haddr);
/* Takes the header off. Return: what the frame carries. */
extern __be16 eth_type_trans(struct sk_buff *skb, struct net_device *dev);
extern int eth_mac_addr(struct net_device *dev, void *p);
extern int eth_validate_addr(struct net_device *dev);
extern int eth_change_mtu(struct net_device *dev, int mtu);

static inline bool is_zero_ether_addr(const u8 *addr) { return !memchr_inv(addr, 0, ETH_ALEN); }
static inline bool is_broadcast_ether_addr(const u8 *addr) { return !memchr_inv(addr, 0xff, ETH_ALEN); }
static inline bool is_multicast_ether_addr(const u8 *addr) { return addr[0] & 1; }
static inline bool is_unicast_ether_addr(const u8 *addr) { return !is_multicast_ether_addr(addr); }
static inline bool is_local_ether_addr(const u8 *addr) { return addr[0] & 2; }
static inline bool is_valid_ether_addr(const u8 *addr)
{
	return !is_multicast_ether_addr(addr) && !is_zero_ether_addr(addr);
}
static inline void eth_random_addr(u8 *addr)
{
	get_random_bytes(addr, ETH_ALEN);
	addr[0] = (u8)((addr[0] & 0xfe) | 2);
}
static inline void random_ether_addr(u8 *addr) { eth_random_addr(addr); }
static inline void eth_broadcast_addr(u8 *addr) { memset(addr, 0xff, ETH_ALEN); }
static inline void eth_zero_addr(u8 *addr) { memset(addr, 0, ETH_ALEN); }
static inline void ether_addr_copy(u8 *to, const u8 *from) { memcpy(to, from, ETH_ALEN); }
static inline bool ether_addr_equal(const u8 *a, const u8 *b) { return !memcmp(a, b, ETH_ALEN); }
static inline int compare_ether_addr(const u8 *a, const u8 *b) { return memcmp(a, b, ETH_ALEN) != 0; }
static inline void eth_hw_addr_set(struct net_device *dev, const u8 *addr) { __dev_addr_set(dev, addr, ETH_ALEN); }
static inline void eth_hw_addr_random(struct net_device *dev)
{
	u8 addr[ETH_ALEN];

	eth_random_addr(addr);
	dev->addr_assign_type = 1;
	eth_hw_addr_set(dev, addr);
}
static inline void eth_hw_addr_inherit(struct net_device *dev, struct net_device *from)
{
	dev->addr_assign_type = from->addr_assign_type;
	eth_hw_addr_set(dev, from->dev_addr);
}
static inline bool ether_addr_equal_64bits(const u8 *a, const u8 *b) { return ether_addr_equal(a, b); }
static inline bool ether_addr_equal_unaligned(const u8 *a, const u8 *b) { return ether_addr_equal(a, b); }
static inline bool is_link_local_ether_addr(const u8 *addr)
{
	static const u8 begin[ETH_ALEN - 1] = { 0x01, 0x80, 0xc2, 0x00, 0x00 };

	return !memcmp(addr, begin, sizeof(begin)) && addr[ETH_ALEN - 1] < 16;
}
static inline int eth_skb_pad(struct sk_buff *skb) { return skb_put_padto(skb, ETH_ZLEN); }
static inline bool eth_proto_is_802_3(__be16 proto) { return ntohs(proto) >= ETH_P_802_3_MIN; }
static inline void u64_to_ether_addr(u64 value, u8 *addr)
{
	int i;

	for (i = ETH_ALEN; i; value >>= 8)
		addr[--i] = (u8)value;
}
static inline int eth_prepare_mac_addr_change(struct net_device *dev, void *p)
{
	const struct sockaddr *sa = p;

	if (!(dev->priv_flags & IFF_LIVE_ADDR_CHANGE) && netif_running(dev))
		return -EBUSY;
	return is_valid_ether_addr((const u8 *)sa->sa_data) ? 0 : -EADDRNOTAVAIL;
}
static inline void eth_commit_mac_addr_change(struct net_device *dev, void *p)
{
	eth_hw_addr_set(dev, (const u8 *)((const struct sockaddr *)p)->sa_data);
}
static inline u64 ether_addr_to_u64(const u8 *addr)
{
	u64 value = 0;
	int i;

	for (i = 0; i < ETH_ALEN; i++)
		value = value << 8 | addr[i];
	return value;
}

#endif
