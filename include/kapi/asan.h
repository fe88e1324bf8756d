/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* AddressSanitizer does not see what the host's functions touch: it is asked before. Of <linux/string.h>. */
#ifndef _KAPI_ASAN_H
#define _KAPI_ASAN_H

extern void *__asan_region_is_poisoned(void *begin, size_t size);
extern void __asan_report_load_n(void *address, long size);
extern void __asan_report_store_n(void *address, long size);

static __always_inline const void *kapi_may_read(const void *from, size_t n)
{
	char *bad = n ? __asan_region_is_poisoned((void *)from, n) : NULL;

	if (bad)
		__asan_report_load_n(bad, (const char *)from + n - bad);
	return from;
}

static __always_inline void *kapi_may_write(void *to, size_t n)
{
	char *bad = n ? __asan_region_is_poisoned(to, n) : NULL;

	if (bad)
		__asan_report_store_n(bad, (char *)to + n - bad);
	return to;
}

static __always_inline size_t kapi_strlen(const char *s)
{
	size_t n = (strlen)(s);

	kapi_may_read(s, n + 1);
	return n;
}

static __always_inline void *kapi_memset(void *s, int c, size_t n) { return (memset)(kapi_may_write(s, n), c, n); }
static __always_inline void *kapi_memcpy(void *to, const void *from, size_t n)
{
	return (memcpy)(kapi_may_write(to, n), kapi_may_read(from, n), n);
}
static __always_inline void *kapi_memmove(void *to, const void *from, size_t n)
{
	return (memmove)(kapi_may_write(to, n), kapi_may_read(from, n), n);
}
static __always_inline int kapi_memcmp(const void *a, const void *b, size_t n)
{
	return (memcmp)(kapi_may_read(a, n), kapi_may_read(b, n), n);
}
static __always_inline char *kapi_strcpy(char *to, const char *from)
{
	return kapi_memcpy(to, from, kapi_strlen(from) + 1);
}

#define memset(s, c, n) kapi_memset(s, c, n)
#define memcpy(to, from, n) kapi_memcpy(to, from, n)
#define memmove(to, from, n) kapi_memmove(to, from, n)
#define memcmp(a, b, n) kapi_memcmp(a, b, n)
#define strlen(s) kapi_strlen(s)
#define strcpy(to, from) kapi_strcpy(to, from)

#endif
