/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Strings and memory. */
#ifndef _LINUX_STRING_H
#define _LINUX_STRING_H

#include <linux/compiler.h>
#include <linux/types.h>
#include <linux/version.h>
#include <linux/stddef.h>
#include <linux/errno.h>

extern void *memset(void *s, int c, size_t n);
extern void *memcpy(void *to, const void *from, size_t n);
extern void *memmove(void *to, const void *from, size_t n);
extern int memcmp(const void *a, const void *b, size_t n);
extern int bcmp(const void *a, const void *b, size_t n);
extern void *memchr(const void *s, int c, size_t n);
extern void *memscan(void *s, int c, size_t n);
extern void *memchr_inv(const void *s, int c, size_t n);

extern size_t strlen(const char *s);
extern size_t strnlen(const char *s, size_t n);
extern char *strcpy(char *to, const char *from);
extern char *strncpy(char *to, const char *from, size_t n);
extern size_t strlcpy(char *to, const char *from, size_t n);
extern ssize_t strscpy(char *to, const char *from, size_t n);
extern ssize_t strscpy_pad(char *to, const char *from, size_t n);
extern char *strcat(char *to, const char *from);
extern char *strncat(char *to, const char *from, size_t n);
extern size_t strlcat(char *to, const char *from, size_t n);
extern int strcmp(const char *a, const char *b);
extern int strncmp(const char *a, const char *b, size_t n);
extern int strcasecmp(const char *a, const char *b);
extern int strncasecmp(const char *a, const char *b, size_t n);
extern char *strchr(const char *s, int c);
extern char *strchrnul(const char *s, int c);
extern char *strrchr(const char *s, int c);
extern char *strnchr(const char *s, size_t n, int c);
extern char *strstr(const char *s, const char *what);
extern char *strnstr(const char *s, const char *what, size_t n);
extern char *strpbrk(const char *s, const char *accept);
extern char *strsep(char **s, const char *delimiters);
extern size_t strspn(const char *s, const char *accept);
extern size_t strcspn(const char *s, const char *reject);
extern char *skip_spaces(const char *s);
extern char *strim(char *s);
extern bool sysfs_streq(const char *a, const char *b);
extern int match_string(const char *const *array, size_t n, const char *string);

/* Return: the text (up to 6.4, its end). */
static inline char *strreplace(char *text, char old, char new)
{
	char *at;

	for (at = text; *at; at++)
		if (*at == old)
			*at = new;
	return LINUX_VERSION_CODE < 0x060500 ? at : text;
}

static inline void *memset16(u16 *to, u16 value, size_t n)
{
	while (n--)
		to[n] = value;
	return to;
}

static inline void *memset32(u32 *to, u32 value, size_t n)
{
	while (n--)
		to[n] = value;
	return to;
}

static inline void *memset64(u64 *to, u64 value, size_t n)
{
	while (n--)
		to[n] = value;
	return to;
}
#define memset_l(to, value, n) memset64((u64 *)(to), value, n)
#define memset_p(to, value, n) memset64((u64 *)(to), (u64)(value), n)

extern char *kstrdup(const char *s, gfp_t gfp);
extern const char *kstrdup_const(const char *s, gfp_t gfp);
extern void kfree_const(const void *p);
extern char *kstrndup(const char *s, size_t n, gfp_t gfp);
extern void *kmemdup(const void *p, size_t n, gfp_t gfp);
/* Copies of what a user passes; errors are in the pointer. */
extern void *memdup_user(const void __user *from, size_t n);
extern void *vmemdup_user(const void __user *from, size_t n);
extern void *memdup_user_nul(const void __user *from, size_t n);
extern char *strndup_user(const char __user *s, long n);
#define memdup_array_user(from, n, size) memdup_user(from, size_mul(n, size))
extern void *kmemdup_array(const void *p, size_t count, size_t size, gfp_t gfp);
extern char *kmemdup_nul(const char *s, size_t n, gfp_t gfp);

/* Two arrays of pointers that end with NULL, as one that was allocated. */
extern void **__memcat_p(void **a, void **b);
#define memcat_p(a, b) ({ \
	_Static_assert(__builtin_types_compatible_p(typeof(*(a)), typeof(*(b))), "arrays of one type"); \
	(typeof(*(a)) *)__memcat_p((void **)(a), (void **)(b)); })

/* Between strings and fields of fixed size, which need not end with a zero byte. */
#define __kapi_len_of(s, most) \
	strnlen(s, __builtin_object_size(s, 1) < (most) ? __builtin_object_size(s, 1) : (most))
#define strtomem_pad(to, from, pad) \
	do { \
		const size_t __kapi_room = sizeof(to), __kapi_len = __kapi_len_of(from, sizeof(to)); \
		memcpy(to, from, __kapi_len); \
		memset((char *)(to) + __kapi_len, pad, __kapi_room - __kapi_len); \
	} while (0)
#define strtomem(to, from) memcpy(to, from, __kapi_len_of(from, sizeof(to)))
#define memtostr(to, from) kapi_memtostr(to, sizeof(to), from, sizeof(from), false)
#define memtostr_pad(to, from) kapi_memtostr(to, sizeof(to), from, sizeof(from), true)
static inline void kapi_memtostr(char *to, size_t room, const char *from, size_t most, bool pad)
{
	size_t len = strnlen(from, most < room - 1 ? most : room - 1);

	memcpy(to, from, len);
	memset(to + len, 0, pad ? room - len : 1);
}
#define strends(s, end) ({ \
	const char *__kapi_s = (s), *__kapi_end = (end); \
	size_t __kapi_n = strlen(__kapi_s), __kapi_m = strlen(__kapi_end); \
	__kapi_n >= __kapi_m && !memcmp(__kapi_s + __kapi_n - __kapi_m, __kapi_end, __kapi_m); })

#define strstrip(s) strim(s)
#define strnicmp(a, b, n) strncasecmp(a, b, n)
#define memzero(s, n) memset(s, 0, n)
#define memzero_explicit(s, n) do { memset(s, 0, n); barrier_data(s); } while (0)
#define str_has_prefix(s, prefix) (strncmp(s, prefix, strlen(prefix)) == 0 ? strlen(prefix) : 0)
#define memset_startat(obj, value, member) \
	memset((u8 *)(obj) + offsetof(typeof(*(obj)), member), value, \
	       sizeof(*(obj)) - offsetof(typeof(*(obj)), member))
#define memset_after(obj, value, member) \
	memset((u8 *)(obj) + offsetofend(typeof(*(obj)), member), value, \
	       sizeof(*(obj)) - offsetofend(typeof(*(obj)), member))
#define unsafe_memcpy(to, from, n, why) memcpy(to, from, n)

#ifdef __SANITIZE_ADDRESS__
#include <kapi/asan.h>
#endif

#endif
