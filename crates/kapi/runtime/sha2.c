// SPDX-License-Identifier: MIT OR Apache-2.0
// SHA-224, SHA-256, SHA-384 and SHA-512 (FIPS 180-4).
#include "digest.h"
#include <crypto/sha2.h>
#include <linux/bitops.h>
#include <linux/string.h>
#include <linux/unaligned.h>

/* The cube roots of the first 80 primes, behind the point; words of 32 bits take the upper half of the first 64. */
static const u64 roots[80] = {
	0x428a2f98d728ae22ULL, 0x7137449123ef65cdULL, 0xb5c0fbcfec4d3b2fULL, 0xe9b5dba58189dbbcULL,
	0x3956c25bf348b538ULL, 0x59f111f1b605d019ULL, 0x923f82a4af194f9bULL, 0xab1c5ed5da6d8118ULL,
	0xd807aa98a3030242ULL, 0x12835b0145706fbeULL, 0x243185be4ee4b28cULL, 0x550c7dc3d5ffb4e2ULL,
	0x72be5d74f27b896fULL, 0x80deb1fe3b1696b1ULL, 0x9bdc06a725c71235ULL, 0xc19bf174cf692694ULL,
	0xe49b69c19ef14ad2ULL, 0xefbe4786384f25e3ULL, 0x0fc19dc68b8cd5b5ULL, 0x240ca1cc77ac9c65ULL,
	0x2de92c6f592b0275ULL, 0x4a7484aa6ea6e483ULL, 0x5cb0a9dcbd41fbd4ULL, 0x76f988da831153b5ULL,
	0x983e5152ee66dfabULL, 0xa831c66d2db43210ULL, 0xb00327c898fb213fULL, 0xbf597fc7beef0ee4ULL,
	0xc6e00bf33da88fc2ULL, 0xd5a79147930aa725ULL, 0x06ca6351e003826fULL, 0x142929670a0e6e70ULL,
	0x27b70a8546d22ffcULL, 0x2e1b21385c26c926ULL, 0x4d2c6dfc5ac42aedULL, 0x53380d139d95b3dfULL,
	0x650a73548baf63deULL, 0x766a0abb3c77b2a8ULL, 0x81c2c92e47edaee6ULL, 0x92722c851482353bULL,
	0xa2bfe8a14cf10364ULL, 0xa81a664bbc423001ULL, 0xc24b8b70d0f89791ULL, 0xc76c51a30654be30ULL,
	0xd192e819d6ef5218ULL, 0xd69906245565a910ULL, 0xf40e35855771202aULL, 0x106aa07032bbd1b8ULL,
	0x19a4c116b8d2d0c8ULL, 0x1e376c085141ab53ULL, 0x2748774cdf8eeb99ULL, 0x34b0bcb5e19b48a8ULL,
	0x391c0cb3c5c95a63ULL, 0x4ed8aa4ae3418acbULL, 0x5b9cca4f7763e373ULL, 0x682e6ff3d6b2b8a3ULL,
	0x748f82ee5defb2fcULL, 0x78a5636f43172f60ULL, 0x84c87814a1f0ab72ULL, 0x8cc702081a6439ecULL,
	0x90befffa23631e28ULL, 0xa4506cebde82bde9ULL, 0xbef9a3f7b2c67915ULL, 0xc67178f2e372532bULL,
	0xca273eceea26619cULL, 0xd186b8c721c0c207ULL, 0xeada7dd6cde0eb1eULL, 0xf57d4f7fee6ed178ULL,
	0x06f067aa72176fbaULL, 0x0a637dc5a2c898a6ULL, 0x113f9804bef90daeULL, 0x1b710b35131c471bULL,
	0x28db77f523047d84ULL, 0x32caab7b40c72493ULL, 0x3c9ebe0a15c9bebcULL, 0x431d67c49c100d4cULL,
	0x4cc5d4becb3e42b6ULL, 0x597f299cfc657e2aULL, 0x5fcb6fab3ad6faecULL, 0x6c44198c4a475817ULL,
};
/* The square roots of the first 16 primes, behind the point. */
static const u32 start224[8] = {
	0xc1059ed8, 0x367cd507, 0x3070dd17, 0xf70e5939, 0xffc00b31, 0x68581511, 0x64f98fa7, 0xbefa4fa4,
};
static const u32 start256[8] = {
	0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19,
};
static const u64 start384[8] = {
	0xcbbb9d5dc1059ed8ULL, 0x629a292a367cd507ULL, 0x9159015a3070dd17ULL, 0x152fecd8f70e5939ULL,
	0x67332667ffc00b31ULL, 0x8eb44a8768581511ULL, 0xdb0c2e0d64f98fa7ULL, 0x47b5481dbefa4fa4ULL,
};
static const u64 start512[8] = {
	0x6a09e667f3bcc908ULL, 0xbb67ae8584caa73bULL, 0x3c6ef372fe94f82bULL, 0xa54ff53a5f1d36f1ULL,
	0x510e527fade682d1ULL, 0x9b05688c2b3e6c1fULL, 0x1f83d9abfb41bd6bULL, 0x5be0cd19137e2179ULL,
};

/* The rounds of either width: words of @type, and how far they turn. */
#define COMPRESS(name, type, rounds, load, constant, ror, a1, a2, a3, e1, e2, e3, s1, s2, s3, t1, t2, t3) \
	static void name(void *state, const u8 *block) \
	{ \
		type *h = state, v[8], w[rounds]; \
		unsigned int i; \
\
		for (i = 0; i < 16; i++) \
			w[i] = load(block + sizeof(type) * i); \
		for (; i < rounds; i++) { \
			type x = w[i - 15], y = w[i - 2]; \
\
			w[i] = w[i - 16] + w[i - 7] + (ror(x, s1) ^ ror(x, s2) ^ x >> s3) + \
			       (ror(y, t1) ^ ror(y, t2) ^ y >> t3); \
		} \
		memcpy(v, h, sizeof(v)); \
		for (i = 0; i < rounds; i++) { \
			type a = v[0], b = v[1], c = v[2], e = v[4]; \
			type add = v[7] + (ror(e, e1) ^ ror(e, e2) ^ ror(e, e3)) + ((e & v[5]) ^ (~e & v[6])) + \
				   (type)(constant) + w[i]; \
			type sum = (ror(a, a1) ^ ror(a, a2) ^ ror(a, a3)) + ((a & b) ^ (a & c) ^ (b & c)); \
\
			memmove(v + 1, v, sizeof(v) - sizeof(*v)); \
			v[0] = add + sum; \
			v[4] += add; \
		} \
		for (i = 0; i < 8; i++) \
			h[i] += v[i]; \
	}
COMPRESS(compress256, u32, 64, get_unaligned_be32, roots[i] >> 32, ror32, 2, 13, 22, 6, 11, 25, 7, 18, 3, 17, 19, 10)
COMPRESS(compress512, u64, 80, get_unaligned_be64, roots[i], ror64, 28, 34, 39, 14, 18, 41, 1, 8, 7, 19, 61, 6)

static const struct digest sha224_digest = {
	.state_bytes = 8 * 4,
	.word_bytes = 4,
	.block_bytes = SHA224_BLOCK_SIZE,
	.digest_bytes = SHA224_DIGEST_SIZE,
	.count_at = offsetof(struct __sha256_ctx, bytecount),
	.buffer_at = offsetof(struct __sha256_ctx, buf),
	.context_bytes = sizeof(struct __sha256_ctx),
	.is_little = false,
	.start = start224,
	.compress = compress256,
};

static const struct digest sha256_digest = {
	.state_bytes = 8 * 4,
	.word_bytes = 4,
	.block_bytes = SHA256_BLOCK_SIZE,
	.digest_bytes = SHA256_DIGEST_SIZE,
	.count_at = offsetof(struct __sha256_ctx, bytecount),
	.buffer_at = offsetof(struct __sha256_ctx, buf),
	.context_bytes = sizeof(struct __sha256_ctx),
	.is_little = false,
	.start = start256,
	.compress = compress256,
};

static const struct digest sha384_digest = {
	.state_bytes = 8 * 8,
	.word_bytes = 8,
	.block_bytes = SHA384_BLOCK_SIZE,
	.digest_bytes = SHA384_DIGEST_SIZE,
	.count_at = offsetof(struct __sha512_ctx, bytecount_lo),
	.buffer_at = offsetof(struct __sha512_ctx, buf),
	.context_bytes = sizeof(struct __sha512_ctx),
	.is_little = false,
	.start = start384,
	.compress = compress512,
};

static const struct digest sha512_digest = {
	.state_bytes = 8 * 8,
	.word_bytes = 8,
	.block_bytes = SHA512_BLOCK_SIZE,
	.digest_bytes = SHA512_DIGEST_SIZE,
	.count_at = offsetof(struct __sha512_ctx, bytecount_lo),
	.buffer_at = offsetof(struct __sha512_ctx, buf),
	.context_bytes = sizeof(struct __sha512_ctx),
	.is_little = false,
	.start = start512,
	.compress = compress512,
};

DIGEST_FUNCTIONS(sha224, sha224_digest)
DIGEST_FUNCTIONS(sha256, sha256_digest)
DIGEST_FUNCTIONS(sha384, sha384_digest)
DIGEST_FUNCTIONS(sha512, sha512_digest)

void sha256_finup_2x(const struct sha256_ctx *ctx, const u8 *data1, const u8 *data2, size_t len, u8 *out1, u8 *out2)
{
	struct sha256_ctx first, second;

	sha256_init(&first);
	if (ctx)
		first = *ctx;
	second = first;
	sha256_update(&first, data1, len);
	sha256_update(&second, data2, len);
	sha256_final(&first, out1);
	sha256_final(&second, out2);
}

bool sha256_finup_2x_is_optimized(void) { return false; }
