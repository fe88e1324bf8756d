/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Addresses of IP, as structures of memory: there is no network here. */
#ifndef _LINUX_IN6_H
#define _LINUX_IN6_H

#include <linux/socket.h>
#include <linux/types.h>

enum {
	IPPROTO_IP = 0,
	IPPROTO_ICMP = 1,
	IPPROTO_TCP = 6,
	IPPROTO_UDP = 17,
	IPPROTO_IPV6 = 41,
	IPPROTO_RAW = 255,
};

#define INADDR_ANY 0U
#define INADDR_LOOPBACK 0x7f000001U
#define INADDR_BROADCAST 0xffffffffU

struct in_addr {
	__be32 s_addr;
};

struct in6_addr {
	union {
		__u8 u6_addr8[16];
		__be16 u6_addr16[8];
		__be32 u6_addr32[4];
	} in6_u;
};
#define s6_addr in6_u.u6_addr8
#define s6_addr16 in6_u.u6_addr16
#define s6_addr32 in6_u.u6_addr32

struct sockaddr_in {
	sa_family_t sin_family;
	__be16 sin_port;
	struct in_addr sin_addr;
	unsigned char sin_zero[8];
};

struct sockaddr_in6 {
	unsigned short sin6_family;
	__be16 sin6_port;
	__be32 sin6_flowinfo;
	struct in6_addr sin6_addr;
	__u32 sin6_scope_id;
};

#endif
