/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Frames of Ethernet, and what names and requests of network devices look like to users. */
#ifndef _LINUX_IF_ETHER_H
#define _LINUX_IF_ETHER_H

#include <linux/skbuff.h>
#include <linux/socket.h>
#include <linux/types.h>

#define ETH_ALEN 6
#define ETH_HLEN 14
#define ETH_ZLEN 60
#define ETH_DATA_LEN 1500
#define ETH_FRAME_LEN 1514
#define ETH_FCS_LEN 4
#define ETH_MIN_MTU 68
#define ETH_MAX_MTU 0xFFFFU

/* What a frame carries, and how it came (pkt_type). */
#define ETH_P_LOOP 0x0060
#define ETH_P_IP 0x0800
#define ETH_P_ARP 0x0806
#define ETH_P_8021Q 0x8100
#define ETH_P_IPV6 0x86DD
#define ETH_P_802_3_MIN 0x0600
#define ETH_P_802_3 0x0001
#define ETH_P_ALL 0x0003
#define ETH_P_802_2 0x0004

struct ethhdr {
	unsigned char h_dest[ETH_ALEN];
	unsigned char h_source[ETH_ALEN];
	__be16 h_proto;
} __attribute__((packed));

static inline struct ethhdr *eth_hdr(const struct sk_buff *skb) { return (struct ethhdr *)skb_mac_header(skb); }

enum {
	PACKET_HOST,
	PACKET_BROADCAST,
	PACKET_MULTICAST,
	PACKET_OTHERHOST,
	PACKET_OUTGOING,
	PACKET_LOOPBACK,
};

/* Of dev->type. */
enum {
	ARPHRD_ETHER = 1,
	ARPHRD_TUNNEL = 768,
	ARPHRD_LOOPBACK = 772,
	ARPHRD_NONE = 0xFFFE,
	ARPHRD_VOID = 0xFFFF,
};

#define IFNAMSIZ 16
#define IFALIASZ 256

/* Of dev->flags. */
enum net_device_flags {
	IFF_UP = 1 << 0,
	IFF_BROADCAST = 1 << 1,
	IFF_DEBUG = 1 << 2,
	IFF_LOOPBACK = 1 << 3,
	IFF_POINTOPOINT = 1 << 4,
	IFF_NOTRAILERS = 1 << 5,
	IFF_RUNNING = 1 << 6,
	IFF_NOARP = 1 << 7,
	IFF_PROMISC = 1 << 8,
	IFF_ALLMULTI = 1 << 9,
	IFF_MASTER = 1 << 10,
	IFF_SLAVE = 1 << 11,
	IFF_MULTICAST = 1 << 12,
};

struct ifmap {
	unsigned long mem_start, mem_end;
	unsigned short base_addr;
	unsigned char irq, dma, port;
};

struct ifreq {
	char ifr_name[IFNAMSIZ];
	union {
		struct sockaddr ifr_addr, ifr_hwaddr;
		short ifr_flags;
		int ifr_mtu, ifr_ifindex;
		struct ifmap ifr_map;
		void __user *ifr_data;
	};
};

/* Commands of an ioctl on a device that are its driver's own. */
#define SIOCDEVPRIVATE 0x89F0

#endif
