/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The check sum with the head that TCP and UDP take in over version 6 of IP. */
#ifndef _NET_IP6_CHECKSUM_H
#define _NET_IP6_CHECKSUM_H

#include <asm/checksum.h>
#include <linux/in6.h>

extern __sum16 csum_ipv6_magic(const struct in6_addr *saddr, const struct in6_addr *daddr, __u32 len, __u8 proto,
			       __wsum sum);

#endif
