// SPDX-License-Identifier: MIT OR Apache-2.0
// The Internet's check sum.
#include "host.h"
#include <asm/checksum.h>
#include <linux/string.h>
#include <net/ip6_checksum.h>

__wsum csum_partial(const void *buff, int len, __wsum sum)
{
	const u8 *bytes = buff;
	u64 whole = (u32)sum;
	u16 word;

	for (; len > 1; len -= 2, bytes += 2) {
		memcpy(&word, bytes, sizeof(word));
		whole += word;
	}
	/* The last byte of an odd number is the first of a word. */
	if (len > 0) {
		word = 0;
		memcpy(&word, bytes, 1);
		whole += word;
	}
	while (whole >> 32)
		whole = (u32)whole + (whole >> 32);
	return (__wsum)whole;
}

__sum16 ip_fast_csum(const void *iph, unsigned int ihl) { return csum_fold(csum_partial(iph, (int)ihl * 4, 0)); }

__sum16 csum_ipv6_magic(const struct in6_addr *saddr, const struct in6_addr *daddr, __u32 len, __u8 proto, __wsum sum)
{
	sum = csum_partial(saddr, sizeof(*saddr), sum);
	sum = csum_partial(daddr, sizeof(*daddr), sum);
	return csum_fold(csum_add(sum, csum_add((__wsum)cpu_to_be32(len), (__wsum)cpu_to_be32(proto))));
}
