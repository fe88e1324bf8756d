/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Hashes that nobody can foresee without the key: SipHash-2-4, and a faster one for tables (hsiphash).
 *
 * Numbers are hashed as their bytes, the lowest first. On a machine of 64 bits hsiphash is SipHash-1-3, cut to 32 bits.
 *
 * After J.-P. Aumasson, D. J. Bernstein, "SipHash: a fast short-input PRF", 2012.
 * Linux counterpart: include/linux/siphash.h @ 4.11.
 */
#ifndef _LINUX_SIPHASH_H
#define _LINUX_SIPHASH_H

#include <linux/types.h>

#define SIPHASH_ALIGNMENT __alignof__(u64)
#define HSIPHASH_ALIGNMENT __alignof__(unsigned long)

typedef struct {
	u64 key[2];
} siphash_key_t;
typedef siphash_key_t siphash_aligned_key_t __attribute__((__aligned__(16)));
typedef struct {
	unsigned long key[2];
} hsiphash_key_t;

static inline bool siphash_key_is_zero(const siphash_key_t *key) { return !(key->key[0] | key->key[1]); }

extern u64 siphash(const void *data, size_t len, const siphash_key_t *key);
extern u64 siphash_1u64(u64 a, const siphash_key_t *key);
extern u64 siphash_2u64(u64 a, u64 b, const siphash_key_t *key);
extern u64 siphash_3u64(u64 a, u64 b, u64 c, const siphash_key_t *key);
extern u64 siphash_4u64(u64 a, u64 b, u64 c, u64 d, const siphash_key_t *key);
extern u64 siphash_1u32(u32 a, const siphash_key_t *key);
extern u64 siphash_3u32(u32 a, u32 b, u32 c, const siphash_key_t *key);
static inline u64 siphash_2u32(u32 a, u32 b, const siphash_key_t *key) { return siphash_1u64((u64)b << 32 | a, key); }
static inline u64 siphash_4u32(u32 a, u32 b, u32 c, u32 d, const siphash_key_t *key)
{
	return siphash_2u64((u64)b << 32 | a, (u64)d << 32 | c, key);
}

extern u32 hsiphash(const void *data, size_t len, const hsiphash_key_t *key);
extern u32 hsiphash_1u32(u32 a, const hsiphash_key_t *key);
extern u32 hsiphash_2u32(u32 a, u32 b, const hsiphash_key_t *key);
extern u32 hsiphash_3u32(u32 a, u32 b, u32 c, const hsiphash_key_t *key);
extern u32 hsiphash_4u32(u32 a, u32 b, u32 c, u32 d, const hsiphash_key_t *key);

#endif
