/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The Internet's check sum: the sum of words of 16 bits in one's complement.
 *
 * Linux counterpart: arch/x86/include/asm/checksum_64.h @ 6.12.
 */
#ifndef _ASM_CHECKSUM_H
#define _ASM_CHECKSUM_H

#include <asm/byteorder.h>
#include <linux/types.h>

/* A sum so far, which csum_fold() ends. */
extern __wsum csum_partial(const void *buff, int len, __wsum sum);
/* @ihl: words of 32 bits. */
extern __sum16 ip_fast_csum(const void *iph, unsigned int ihl);

static inline __wsum csum_add(__wsum sum, __wsum addend)
{
	u64 whole = (u64)(u32)sum + (u32)addend;

	return (__wsum)((u32)whole + (u32)(whole >> 32));
}

static inline __wsum csum_sub(__wsum sum, __wsum addend) { return csum_add(sum, ~addend); }

static inline __sum16 csum_fold(__wsum sum)
{
	u32 folded = ((u32)sum & 0xffff) + ((u32)sum >> 16);

	return (__sum16)~(u16)(folded + (folded >> 16));
}

static inline __wsum csum_unfold(__sum16 sum) { return (__wsum)sum; }

/* With the head that TCP and UDP take in. @len, @proto: in the machine's order. */
static inline __wsum csum_tcpudp_nofold(__be32 saddr, __be32 daddr, __u32 len, __u8 proto, __wsum sum)
{
	return csum_add(csum_add(sum, (__wsum)saddr), csum_add((__wsum)daddr, (__wsum)cpu_to_be32(len + proto)));
}

static inline __sum16 csum_tcpudp_magic(__be32 saddr, __be32 daddr, __u32 len, __u8 proto, __wsum sum)
{
	return csum_fold(csum_tcpudp_nofold(saddr, daddr, len, proto, sum));
}

static inline __sum16 ip_compute_csum(const void *buff, int len) { return csum_fold(csum_partial(buff, len, 0)); }

#endif
