/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Identifiers of 128 bits as RFC 9562 writes them: uuid_t in the order of the text, guid_t with its first three
 * groups little endian.
 *
 * Linux counterpart: include/linux/uuid.h @ 6.12. */
#ifndef _LINUX_UUID_H
#define _LINUX_UUID_H

#include <linux/errno.h>
#include <linux/string.h>
#include <linux/types.h>

#define UUID_SIZE 16
#define UUID_STRING_LEN 36

typedef struct {
	u8 b[UUID_SIZE];
} uuid_t;

typedef struct {
	u8 b[UUID_SIZE];
} guid_t;

#define __KAPI_BYTE(x, n) ((u8)((x) >> 8 * (n)))
#define GUID_INIT(a, b, c, d0, d1, d2, d3, d4, d5, d6, d7) \
	((guid_t){ { __KAPI_BYTE(a, 0), __KAPI_BYTE(a, 1), __KAPI_BYTE(a, 2), __KAPI_BYTE(a, 3), __KAPI_BYTE(b, 0), \
		     __KAPI_BYTE(b, 1), __KAPI_BYTE(c, 0), __KAPI_BYTE(c, 1), d0, d1, d2, d3, d4, d5, d6, d7 } })
#define UUID_INIT(a, b, c, d0, d1, d2, d3, d4, d5, d6, d7) \
	((uuid_t){ { __KAPI_BYTE(a, 3), __KAPI_BYTE(a, 2), __KAPI_BYTE(a, 1), __KAPI_BYTE(a, 0), __KAPI_BYTE(b, 1), \
		     __KAPI_BYTE(b, 0), __KAPI_BYTE(c, 1), __KAPI_BYTE(c, 0), d0, d1, d2, d3, d4, d5, d6, d7 } })

extern const guid_t guid_null;
extern const uuid_t uuid_null;
/* Random ones, of version 4. */
extern void generate_random_uuid(unsigned char uuid[16]);
extern void generate_random_guid(unsigned char guid[16]);
extern void guid_gen(guid_t *u);
extern void uuid_gen(uuid_t *u);
extern bool uuid_is_valid(const char *uuid);
/* Return: 0, or -EINVAL. */
extern int guid_parse(const char *uuid, guid_t *u);
extern int uuid_parse(const char *uuid, uuid_t *u);

static inline bool guid_equal(const guid_t *a, const guid_t *b) { return !memcmp(a, b, sizeof(*a)); }
static inline bool uuid_equal(const uuid_t *a, const uuid_t *b) { return !memcmp(a, b, sizeof(*a)); }
static inline bool guid_is_null(const guid_t *guid) { return guid_equal(guid, &guid_null); }
static inline bool uuid_is_null(const uuid_t *uuid) { return uuid_equal(uuid, &uuid_null); }
static inline void guid_copy(guid_t *to, const guid_t *from) { *to = *from; }
static inline void uuid_copy(uuid_t *to, const uuid_t *from) { *to = *from; }
static inline void import_guid(guid_t *to, const u8 *from) { memcpy(to, from, sizeof(*to)); }
static inline void import_uuid(uuid_t *to, const u8 *from) { memcpy(to, from, sizeof(*to)); }
static inline void export_guid(u8 *to, const guid_t *from) { memcpy(to, from, sizeof(*from)); }
static inline void export_uuid(u8 *to, const uuid_t *from) { memcpy(to, from, sizeof(*from)); }

#endif
