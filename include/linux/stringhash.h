/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Hashes of names. The values are not those of a kernel, which differ from machine to machine too. */
#ifndef _LINUX_STRINGHASH_H
#define _LINUX_STRINGHASH_H

#include <linux/hash.h>
#include <linux/types.h>

static inline unsigned int full_name_hash(const void *salt, const char *name, unsigned int len)
{
	unsigned long hash = (unsigned long)salt;

	while (len--)
		hash = (hash ^ (unsigned char)*name++) * GOLDEN_RATIO_64;
	return (unsigned int)(hash >> 32);
}

/* A hash and the length of what was hashed in one word. */
#define hashlen_hash(hashlen) ((u32)(hashlen))
#define hashlen_len(hashlen) ((u32)((hashlen) >> 32))
#define hashlen_create(hash, len) ((u64)(len) << 32 | (u32)(hash))

static inline u64 hashlen_string(const void *salt, const char *name)
{
	unsigned int len = 0;

	while (name[len])
		len++;
	return hashlen_create(full_name_hash(salt, name, len), len);
}

#endif
