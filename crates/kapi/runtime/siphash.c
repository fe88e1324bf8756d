// SPDX-License-Identifier: MIT OR Apache-2.0
// SipHash, after J.-P. Aumasson and D. J. Bernstein, "SipHash: a fast short-input PRF", 2012, section 2.
#include <linux/bitops.h>
#include <linux/siphash.h>
#include <linux/string.h>

struct state {
	u64 v0, v1, v2, v3;
};

static void rounds(struct state *s, int n)
{
	while (n--) {
		s->v0 += s->v1;
		s->v2 += s->v3;
		s->v1 = rol64(s->v1, 13) ^ s->v0;
		s->v3 = rol64(s->v3, 16) ^ s->v2;
		s->v0 = rol64(s->v0, 32) + s->v3;
		s->v2 += s->v1;
		s->v3 = rol64(s->v3, 21) ^ s->v0;
		s->v1 = rol64(s->v1, 17) ^ s->v2;
		s->v2 = rol64(s->v2, 32);
	}
}

static void take(struct state *s, u64 word, int n)
{
	s->v3 ^= word;
	rounds(s, n);
	s->v0 ^= word;
}

/* SipHash-@each-@last of bytes; the machine has the lowest first. */
static u64 hash(const void *data, size_t len, u64 key0, u64 key1, int each, int last)
{
	struct state s = {
		key0 ^ 0x736f6d6570736575ULL, key1 ^ 0x646f72616e646f6dULL,
		key0 ^ 0x6c7967656e657261ULL, key1 ^ 0x7465646279746573ULL,
	};
	const u8 *at = data;
	size_t left = len;
	u64 word;

	for (; left >= sizeof(word); left -= sizeof(word), at += sizeof(word)) {
		memcpy(&word, at, sizeof(word));
		take(&s, word, each);
	}
	word = 0;
	memcpy(&word, at, left);
	take(&s, word | (u64)len << 56, each);
	s.v2 ^= 0xff;
	rounds(&s, last);
	return s.v0 ^ s.v1 ^ s.v2 ^ s.v3;
}

u64 siphash(const void *data, size_t len, const siphash_key_t *key)
{
	return hash(data, len, key->key[0], key->key[1], 2, 4);
}

#define OF_NUMBERS(type, ...) siphash((type[]){ __VA_ARGS__ }, sizeof((type[]){ __VA_ARGS__ }), key)
u64 siphash_1u64(u64 a, const siphash_key_t *key) { return OF_NUMBERS(u64, a); }
u64 siphash_2u64(u64 a, u64 b, const siphash_key_t *key) { return OF_NUMBERS(u64, a, b); }
u64 siphash_3u64(u64 a, u64 b, u64 c, const siphash_key_t *key) { return OF_NUMBERS(u64, a, b, c); }
u64 siphash_4u64(u64 a, u64 b, u64 c, u64 d, const siphash_key_t *key) { return OF_NUMBERS(u64, a, b, c, d); }
u64 siphash_1u32(u32 a, const siphash_key_t *key) { return OF_NUMBERS(u32, a); }
u64 siphash_3u32(u32 a, u32 b, u32 c, const siphash_key_t *key) { return OF_NUMBERS(u32, a, b, c); }

u32 hsiphash(const void *data, size_t len, const hsiphash_key_t *key)
{
	return (u32)hash(data, len, key->key[0], key->key[1], 1, 3);
}

#define SHORT_OF_NUMBERS(...) hsiphash((u32[]){ __VA_ARGS__ }, sizeof((u32[]){ __VA_ARGS__ }), key)
u32 hsiphash_1u32(u32 a, const hsiphash_key_t *key) { return SHORT_OF_NUMBERS(a); }
u32 hsiphash_2u32(u32 a, u32 b, const hsiphash_key_t *key) { return SHORT_OF_NUMBERS(a, b); }
u32 hsiphash_3u32(u32 a, u32 b, u32 c, const hsiphash_key_t *key) { return SHORT_OF_NUMBERS(a, b, c); }
u32 hsiphash_4u32(u32 a, u32 b, u32 c, u32 d, const hsiphash_key_t *key) { return SHORT_OF_NUMBERS(a, b, c, d); }
