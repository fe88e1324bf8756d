// SPDX-License-Identifier: MIT OR Apache-2.0
// Strings and memory, where the kernel has more than the C library, whose functions modules get by `symbols.rs`.
#include "host.h"
#include <linux/ctype.h>
#include <linux/err.h>
#include <linux/mm.h>
#include <linux/kernel.h>
#include <linux/slab.h>
#include <linux/string.h>

void *memscan(void *s, int c, size_t n) { return memchr(s, c, n) ?: (char *)s + n; }

void *memchr_inv(const void *s, int c, size_t n)
{
	const u8 *at = s;

	for (; n; n--, at++)
		if (*at != (u8)c)
			return (void *)at;
	return NULL;
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

size_t strlcat(char *to, const char *from, size_t n)
{
	size_t at = strnlen(to, n);

	return at + strlcpy(to + at, from, n - at);
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

void *kmemdup_array(const void *p, size_t count, size_t size, gfp_t gfp) { return kmemdup(p, size_mul(count, size), gfp); }

char *kmemdup_nul(const char *s, size_t n, gfp_t gfp)
{
	char *copy = kmalloc_track_caller(n + 1, gfp);

	if (copy) {
		memcpy(copy, s, n);
		copy[n] = '\0';
	}
	return copy;
}

char *kstrndup(const char *s, size_t n, gfp_t gfp) { return s ? kmemdup_nul(s, strnlen(s, n), gfp) : NULL; }
char *kstrdup(const char *s, gfp_t gfp) { return s ? kmemdup_nul(s, strlen(s), gfp) : NULL; }
const char *kstrdup_const(const char *s, gfp_t gfp) { return kstrdup(s, gfp); }
void kfree_const(const void *p) { kfree(p); }

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

void **__memcat_p(void **a, void **b)
{
	size_t left, right;
	void **both;

	for (left = 0; a[left]; left++)
		;
	for (right = 0; b[right]; right++)
		;
	both = kmalloc_array(left + right + 1, sizeof(*both), GFP_KERNEL);
	if (both) {
		memcpy(both, a, left * sizeof(*both));
		memcpy(both + left, b, (right + 1) * sizeof(*both));
	}
	return both;
}
