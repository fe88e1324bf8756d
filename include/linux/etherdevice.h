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
static inline u64 ether_addr_to_u64(const u8 *addr)
{
	u64 value = 0;
	int i;

	for (i = 0; i < ETH_ALEN; i++)
		value = value << 8 | addr[i];
	return value;
}

#endif
