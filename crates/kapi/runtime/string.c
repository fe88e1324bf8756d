// SPDX-License-Identifier: MIT OR Apache-2.0
// Strings and memory.
#include <linux/ctype.h>
#include <linux/kernel.h>
#include <linux/slab.h>
#include <linux/string.h>

/* Without this the compiler turns the loop of memset() into a call of memset(). */
#pragma GCC optimize("no-tree-loop-distribute-patterns")

void *memset(void *s, int c, size_t n)
{
#if defined(__x86_64__)
	void *at = s;

	__asm__ __volatile__("rep stosb" : "+D"(at), "+c"(n) : "a"(c) : "memory");
#else
	char *at = s;

	while (n--)
		*at++ = (char)c;
#endif
	return s;
}

void *memcpy(void *to, const void *from, size_t n)
{
#if defined(__x86_64__)
	void *at = to;

	__asm__ __volatile__("rep movsb" : "+D"(at), "+S"(from), "+c"(n) : : "memory");
#else
	const char *source = from;
	char *at = to;

	while (n--)
		*at++ = *source++;
#endif
	return to;
}

void *memmove(void *to, const void *from, size_t n)
{
	const char *source = from;
	char *at = to;

	if (at <= source || at >= source + n)
		return memcpy(to, from, n);
	while (n--)
		at[n] = source[n];
	return to;
}

int memcmp(const void *a, const void *b, size_t n)
{
	const u8 *x = a, *y = b;

	for (; n; n--, x++, y++)
		if (*x != *y)
			return *x - *y;
	return 0;
}

int bcmp(const void *a, const void *b, size_t n)
{
	return memcmp(a, b, n);
}

void *memchr(const void *s, int c, size_t n)
{
	const u8 *at = s;

	for (; n; n--, at++)
		if (*at == (u8)c)
			return (void *)at;
	return NULL;
}

void *memscan(void *s, int c, size_t n)
{
	return memchr(s, c, n) ?: (char *)s + n;
}

void *memchr_inv(const void *s, int c, size_t n)
{
	const u8 *at = s;

	for (; n; n--, at++)
		if (*at != (u8)c)
			return (void *)at;
	return NULL;
}

size_t strlen(const char *s)
{
	const char *end = s;

	while (*end)
		end++;
	return (size_t)(end - s);
}

size_t strnlen(const char *s, size_t n)
{
	size_t len = 0;

	while (len < n && s[len])
		len++;
	return len;
}

char *strcpy(char *to, const char *from)
{
	return memcpy(to, from, strlen(from) + 1);
}

char *strncpy(char *to, const char *from, size_t n)
{
	size_t len = strnlen(from, n);

	memcpy(to, from, len);
	memset(to + len, 0, n - len);
	return to;
}

size_t strlcpy(char *to, const char *from, size_t n)
{
	size_t len = strlen(from);

	strscpy(to, from, n);
	return len;
}

ssize_t strscpy(char *to, const char *from, size_t n)
{
	size_t len = strnlen(from, n);

	if (!n)
		return -E2BIG;
	if (len == n)
		len--;
	memcpy(to, from, len);
	to[len] = '\0';
	return from[len] ? -E2BIG : (ssize_t)len;
}

ssize_t strscpy_pad(char *to, const char *from, size_t n)
{
	ssize_t len = strscpy(to, from, n);

	if (len >= 0)
		memset(to + len, 0, n - (size_t)len);
	return len;
}

char *strcat(char *to, const char *from)
{
	strcpy(to + strlen(to), from);
	return to;
}

char *strncat(char *to, const char *from, size_t n)
{
	size_t at = strlen(to), len = strnlen(from, n);

	memcpy(to + at, from, len);
	to[at + len] = '\0';
	return to;
}

size_t strlcat(char *to, const char *from, size_t n)
{
	size_t at = strnlen(to, n);

	return at + strlcpy(to + at, from, n - at);
}

int strncmp(const char *a, const char *b, size_t n)
{
	for (; n; n--, a++, b++)
		if (*a != *b || !*a)
			return (u8)*a - (u8)*b;
	return 0;
}

int strcmp(const char *a, const char *b)
{
	return strncmp(a, b, SIZE_MAX);
}

int strncasecmp(const char *a, const char *b, size_t n)
{
	for (; n; n--, a++, b++)
		if (tolower(*a) != tolower(*b) || !*a)
			return tolower((u8)*a) - tolower((u8)*b);
	return 0;
}

int strcasecmp(const char *a, const char *b)
{
	return strncasecmp(a, b, SIZE_MAX);
}

char *strchrnul(const char *s, int c)
{
	while (*s && *s != (char)c)
		s++;
	return (char *)s;
}

char *strchr(const char *s, int c)
{
	char *at = strchrnul(s, c);

	return *at == (char)c ? at : NULL;
}

char *strnchr(const char *s, size_t n, int c)
{
	for (; n--; s++) {
		if (*s == (char)c)
			return (char *)s;
		if (!*s)
			break;
	}
	return NULL;
}

char *strrchr(const char *s, int c)
{
	const char *last = NULL;

	do {
		if (*s == (char)c)
			last = s;
	} while (*s++);
	return (char *)last;
}

char *strnstr(const char *s, const char *what, size_t n)
{
	size_t len = strlen(what);

	for (; n >= len; n--, s++) {
		if (!memcmp(s, what, len))
			return (char *)s;
		if (!*s)
			break;
	}
	return NULL;
}

char *strstr(const char *s, const char *what)
{
	return strnstr(s, what, strlen(s));
}

size_t strspn(const char *s, const char *accept)
{
	size_t n = 0;

	while (s[n] && strchr(accept, s[n]))
		n++;
	return n;
}

size_t strcspn(const char *s, const char *reject)
{
	size_t n = 0;

	while (s[n] && !strchr(reject, s[n]))
		n++;
	return n;
}

char *strpbrk(const char *s, const char *accept)
{
	s += strcspn(s, accept);
	return *s ? (char *)s : NULL;
}

char *strsep(char **s, const char *delimiters)
{
	char *begin = *s, *end;

	if (!begin)
		return NULL;
	end = strpbrk(begin, delimiters);
	if (end)
		*end++ = '\0';
	*s = end;
	return begin;
}

char *skip_spaces(const char *s)
{
	while (isspace(*s))
		s++;
	return (char *)s;
}

char *strim(char *s)
{
	size_t len = strlen(s);

	while (len && isspace(s[len - 1]))
		s[--len] = '\0';
	return skip_spaces(s);
}

bool sysfs_streq(const char *a, const char *b)
{
	while (*a && *a == *b)
		a++, b++;
	return (*a == *b) || (!*a && !strcmp(b, "\n")) || (!*b && !strcmp(a, "\n"));
}

int match_string(const char *const *array, size_t n, const char *string)
{
	size_t i;

	for (i = 0; i < n && array[i]; i++)
		if (!strcmp(array[i], string))
			return (int)i;
	return -EINVAL;
}

void *kmemdup(const void *p, size_t n, gfp_t gfp)
{
	void *copy = kmalloc_track_caller(n, gfp);

	return copy ? memcpy(copy, p, n) : NULL;
}

char *kmemdup_nul(const char *s, size_t n, gfp_t gfp)
{
	char *copy = kmalloc_track_caller(n + 1, gfp);

	if (copy) {
		memcpy(copy, s, n);
		copy[n] = '\0';
	}
	return copy;
}

char *kstrndup(const char *s, size_t n, gfp_t gfp)
{
	return s ? kmemdup_nul(s, strnlen(s, n), gfp) : NULL;
}

char *kstrdup(const char *s, gfp_t gfp)
{
	return s ? kmemdup_nul(s, strlen(s), gfp) : NULL;
}

const char *kstrdup_const(const char *s, gfp_t gfp)
{
	return kstrdup(s, gfp);
}

void kfree_const(const void *p)
{
	kfree(p);
}
