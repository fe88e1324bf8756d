// SPDX-License-Identifier: MIT OR Apache-2.0
// SHA-1 (FIPS 180-4).
#include "digest.h"
#include <crypto/sha1.h>
#include <linux/bitops.h>
#include <linux/unaligned.h>

static const u32 start[5] = { 0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0 };
static const u32 constants[4] = { 0x5a827999, 0x6ed9eba1, 0x8f1bbcdc, 0xca62c1d6 };

static void compress(void *state, const u8 *block)
{
	u32 *h = state, a = h[0], b = h[1], c = h[2], d = h[3], e = h[4], w[80];
	unsigned int i;

	for (i = 0; i < 16; i++)
		w[i] = get_unaligned_be32(block + 4 * i);
	for (; i < 80; i++)
		w[i] = rol32(w[i - 3] ^ w[i - 8] ^ w[i - 14] ^ w[i - 16], 1);
	for (i = 0; i < 80; i++) {
		u32 mix = i < 20 ? (b & c) | (~b & d) : i >= 40 && i < 60 ? (b & c) | (b & d) | (c & d) : b ^ c ^ d;
		u32 next = rol32(a, 5) + mix + e + constants[i / 20] + w[i];

		e = d;
		d = c;
		c = rol32(b, 30);
		b = a;
		a = next;
	}
	h[0] += a;
	h[1] += b;
	h[2] += c;
	h[3] += d;
	h[4] += e;
}

static const struct digest sha1_digest = {
	.state_bytes = 5 * 4,
	.word_bytes = 4,
	.block_bytes = SHA1_BLOCK_SIZE,
	.digest_bytes = SHA1_DIGEST_SIZE,
	.count_at = offsetof(struct sha1_ctx, bytecount),
	.buffer_at = offsetof(struct sha1_ctx, buf),
	.context_bytes = sizeof(struct sha1_ctx),
	.is_little = false,
	.start = start,
	.compress = compress,
};

DIGEST_FUNCTIONS(sha1, sha1_digest)
