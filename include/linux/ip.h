/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Headers of IPv4, UDP and TCP, as structures of memory: nothing here speaks them but a step of --do. */
#ifndef _LINUX_IP_H
#define _LINUX_IP_H

#include <asm/byteorder.h>
#include <asm/checksum.h>
#include <linux/in6.h>
#include <linux/skbuff.h>
#include <linux/types.h>

struct iphdr {
	__u8 ihl : 4, version : 4;
	__u8 tos;
	__be16 tot_len, id, frag_off;
	__u8 ttl, protocol;
	__sum16 check;
	__be32 saddr, daddr;
};

struct udphdr {
	__be16 source, dest, len;
	__sum16 check;
};

struct tcphdr {
	__be16 source, dest;
	__be32 seq, ack_seq;
	__u16 res1 : 4, doff : 4, fin : 1, syn : 1, rst : 1, psh : 1, ack : 1, urg : 1, ece : 1, cwr : 1;
	__be16 window;
	__sum16 check;
	__be16 urg_ptr;
};

struct icmphdr {
	__u8 type, code;
	__sum16 checksum;
	union {
		struct {
			__be16 id, sequence;
		} echo;
		__be32 gateway;
	} un;
};
enum {
	ICMP_ECHOREPLY = 0,
	ICMP_DEST_UNREACH = 3,
	ICMP_ECHO = 8,
	ICMP_TIME_EXCEEDED = 11,
};

/* An address as text, `192.168.0.1`, up to its first wrong letter. */
static inline __be32 in_aton(const char *text)
{
	unsigned long value = 0;
	int i;

	for (i = 0; i < 4; i++) {
		unsigned int part = 0;

		while (*text >= '0' && *text <= '9')
			part = part * 10 + (unsigned int)(*text++ - '0');
		value = value << 8 | (part & 0xff);
		text += *text == '.';
	}
	return cpu_to_be32((u32)value);
}

static inline struct iphdr *ip_hdr(const struct sk_buff *skb) { return (struct iphdr *)skb_network_header(skb); }
static inline unsigned int ip_hdrlen(const struct sk_buff *skb) { return ip_hdr(skb)->ihl * 4U; }
static inline struct udphdr *udp_hdr(const struct sk_buff *skb) { return (struct udphdr *)skb_transport_header(skb); }
static inline struct tcphdr *tcp_hdr(const struct sk_buff *skb) { return (struct tcphdr *)skb_transport_header(skb); }
static inline unsigned int tcp_hdrlen(const struct sk_buff *skb) { return tcp_hdr(skb)->doff * 4U; }
/* What a header of IPv4 has as its check sum. */
static inline void ip_send_check(struct iphdr *iph)
{
	iph->check = 0;
	iph->check = ip_fast_csum(iph, iph->ihl);
}
static inline struct udphdr *inner_udp_hdr(const struct sk_buff *skb)
{
	return (struct udphdr *)skb_inner_transport_header(skb);
}
static inline struct iphdr *inner_ip_hdr(const struct sk_buff *skb)
{
	return (struct iphdr *)skb_inner_network_header(skb);
}
static inline struct icmphdr *icmp_hdr(const struct sk_buff *skb) { return (struct icmphdr *)skb_transport_header(skb); }

#endif
