// SPDX-License-Identifier: MIT OR Apache-2.0
// Numbers in text, bits in words, hashing and sorting.
#include <linux/bitmap.h>
#include <linux/ctype.h>
#include <linux/jhash.h>
#include <linux/kernel.h>
#include <linux/sort.h>
#include <linux/string.h>
#include <linux/uaccess.h>

static unsigned int digit(char c)
{
	return isdigit(c) ? (unsigned int)(c - '0') :
	       isxdigit(c) ? (unsigned int)(tolower(c) - 'a' + 10) : 99;
}

static const char *prefix(const char *s, unsigned int *base)
{
	bool hex = s[0] == '0' && tolower(s[1]) == 'x' && isxdigit(s[2]);

	if (!*base)
		*base = hex ? 16 : s[0] == '0' ? 8 : 10;
	return hex && *base == 16 ? s + 2 : s;
}

unsigned long long simple_strtoull(const char *s, char **end, unsigned int base)
{
	unsigned long long value = 0;

	for (s = prefix(s, &base); digit(*s) < base; s++)
		value = value * base + digit(*s);
	if (end)
		*end = (char *)s;
	return value;
}

long long simple_strtoll(const char *s, char **end, unsigned int base)
{
	if (*s == '-')
		return -(long long)simple_strtoull(s + 1, end, base);
	return (long long)simple_strtoull(s, end, base);
}

unsigned long simple_strtoul(const char *s, char **end, unsigned int base)
{
	return (unsigned long)simple_strtoull(s, end, base);
}

long simple_strtol(const char *s, char **end, unsigned int base) { return (long)simple_strtoll(s, end, base); }

int kstrtoull(const char *s, unsigned int base, unsigned long long *res)
{
	unsigned long long value = 0;
	const char *begin;

	s = begin = prefix(*s == '+' ? s + 1 : s, &base);
	for (; digit(*s) < base; s++)
		if (__builtin_mul_overflow(value, base, &value) || __builtin_add_overflow(value, digit(*s), &value))
			return -ERANGE;
	if (s == begin || (*s && strcmp(s, "\n")))
		return -EINVAL;
	*res = value;
	return 0;
}

int kstrtoll(const char *s, unsigned int base, long long *res)
{
	bool minus = *s == '-';
	unsigned long long value;
	int error;

	/* One sign is enough. */
	if (minus && s[1] == '+')
		return -EINVAL;
	error = kstrtoull(minus ? s + 1 : s, base, &value);
	if (error)
		return error;
	if (value > (unsigned long long)LLONG_MAX + minus)
		return -ERANGE;
	*res = (long long)(minus ? -value : value);
	return 0;
}

#define KSTRTO(name, type, wide, via) \
	int name(const char *s, unsigned int base, type *res) \
	{ \
		wide value; \
		int error = via(s, base, &value); \
		if (!error && value != (wide)(type)value) \
			error = -ERANGE; \
		if (!error) \
			*res = (type)value; \
		return error; \
	}
KSTRTO(kstrtoul, unsigned long, unsigned long long, kstrtoull)
KSTRTO(kstrtol, long, long long, kstrtoll)
KSTRTO(kstrtouint, unsigned int, unsigned long long, kstrtoull)
KSTRTO(kstrtoint, int, long long, kstrtoll)
KSTRTO(kstrtou16, u16, unsigned long long, kstrtoull)
KSTRTO(kstrtos16, s16, long long, kstrtoll)
KSTRTO(kstrtou8, u8, unsigned long long, kstrtoull)
KSTRTO(kstrtos8, s8, long long, kstrtoll)

/* A number with a point, times 10^scale; digits behind are left out. */
int kstrtoudec64(const char *s, unsigned int scale, u64 *res)
{
	bool behind = false;
	int digits = 0;
	u64 value = 0;

	for (s += *s == '+'; isdigit(*s) || (*s == '.' && !behind); s++) {
		if (*s == '.') {
			behind = true;
			continue;
		}
		digits++;
		if (behind && !scale)
			continue;
		if (__builtin_mul_overflow(value, 10, &value) || __builtin_add_overflow(value, digit(*s), &value))
			return -ERANGE;
		scale -= behind;
	}
	if (!digits || (*s && strcmp(s, "\n")))
		return -EINVAL;
	for (; scale && value; scale--)
		if (__builtin_mul_overflow(value, 10, &value))
			return -ERANGE;
	*res = value;
	return 0;
}

int kstrtodec64(const char *s, unsigned int scale, s64 *res)
{
	bool minus = *s == '-';
	u64 value;
	int error;

	if (minus && s[1] == '+')
		return -EINVAL;
	error = kstrtoudec64(minus ? s + 1 : s, scale, &value);
	if (error)
		return error;
	if (value > (u64)LLONG_MAX + minus)
		return -ERANGE;
	*res = (s64)(minus ? -value : value);
	return 0;
}

int kstrtobool(const char *s, bool *res)
{
	switch (tolower(s[0])) {
	case 'y':
	case 't':
	case '1':
		*res = true;
		return 0;
	case 'n':
	case 'f':
	case '0':
		*res = false;
		return 0;
	case 'o':
		if (tolower(s[1]) != 'n' && tolower(s[1]) != 'f')
			return -EINVAL;
		*res = tolower(s[1]) == 'n';
		return 0;
	default:
		return -EINVAL;
	}
}

#define FROM_USER(name, type, via) \
	int name(const char __user *s, size_t count, unsigned int base, type *res) \
	{ \
		char text[72]; \
		count = min(count, sizeof(text) - 1); \
		if (copy_from_user(text, s, count)) \
			return -EFAULT; \
		text[count] = '\0'; \
		return via(text, base, res); \
	}
FROM_USER(kstrtoull_from_user, unsigned long long, kstrtoull)
FROM_USER(kstrtoll_from_user, long long, kstrtoll)
FROM_USER(kstrtoul_from_user, unsigned long, kstrtoul)
FROM_USER(kstrtol_from_user, long, kstrtol)
FROM_USER(kstrtouint_from_user, unsigned int, kstrtouint)
FROM_USER(kstrtoint_from_user, int, kstrtoint)
FROM_USER(kstrtou16_from_user, u16, kstrtou16)
FROM_USER(kstrtos16_from_user, s16, kstrtos16)
FROM_USER(kstrtou8_from_user, u8, kstrtou8)
FROM_USER(kstrtos8_from_user, s8, kstrtos8)
static int boolean(const char *s, unsigned int base, bool *res) { return kstrtobool(s, res); }
static FROM_USER(boolean_from_user, bool, boolean)
int kstrtobool_from_user(const char __user *s, size_t count, bool *res) { return boolean_from_user(s, count, 0, res); }

/* What does not fit is the largest number, as in 7.3; older kernels let it wrap around. */
unsigned long long memparse(const char *ptr, char **retptr)
{
	static const char units[] = "kmgtpe";
	unsigned int base = 0, shift = 0;
	unsigned long long value = 0;
	const char *at = prefix(ptr, &base), *unit;
	bool large = false;

	for (; digit(*at) < base; at++)
		large |= __builtin_mul_overflow(value, base, &value) || __builtin_add_overflow(value, digit(*at), &value);
	unit = *at && at != ptr ? strchr(units, tolower(*at)) : NULL;
	if (unit) {
		shift = 10 * (unsigned int)(unit - units + 1);
		at++;
	}
	if (retptr)
		*retptr = (char *)at;
	return large || value > ULLONG_MAX >> shift ? ULLONG_MAX : value << shift;
}

/* Words of a command line, name=value each; quotes hold words together, around a value or around all. */
char *next_arg(char *args, char **param, char **val)
{
	bool quotes = *args == '"', inside = quotes;
	char *end, *next, *equals = NULL;

	args += quotes;
	for (end = args; *end && (inside || !isspace(*end)); end++) {
		if (*end == '=' && !equals && end > args)
			equals = end;
		if (*end == '"')
			inside = !inside;
	}
	next = *end ? end + 1 : end;
	*end = '\0';
	*param = args;
	*val = NULL;
	if (equals) {
		*equals = '\0';
		*val = equals + 1;
		if (**val == '"') {
			quotes = true;
			++*val;
		}
	}
	if (quotes && end > args && end[-1] == '"')
		end[-1] = '\0';
	return skip_spaces(next);
}

int get_option(char **str, int *value)
{
	char *from = *str, *end;

	if (!from || !*from)
		return 0;
	*value = (int)simple_strtol(from, &end, 0);
	*str = end;
	/* A minus alone is no number. */
	if (end == from || (*from == '-' && end == from + 1))
		return 0;
	if (*end == ',') {
		++*str;
		return 2;
	}
	return *end == '-' ? 3 : 1;
}

char *get_options(const char *str, int nints, int *ints)
{
	bool count_only = nints == 0;
	char *at = (char *)str;
	int n = 1, kind = 2;

	while (n < (count_only ? INT_MAX : nints) && kind != 1) {
		int *slot = count_only ? ints : ints + n;

		kind = get_option(&at, slot);
		if (!kind)
			break;
		if (kind == 3) {
			int value = *slot;
			long more = (int)simple_strtol(++at, NULL, 0) - (long)value;

			if (more < 0 || (count_only && more >= INT_MAX - n))
				break;
			/* All but the last, which is read as the number that follows. */
			if (count_only)
				n += (int)more;
			for (; !count_only && more && n < nints; more--)
				ints[n++] = value++;
		} else {
			n++;
		}
	}
	ints[0] = n - 1;
	return at;
}

static unsigned long find(const unsigned long *addr, unsigned long size, unsigned long at, unsigned long invert)
{
	while (at < size) {
		unsigned long word = (addr[at / 64] ^ invert) >> (at % 64);

		if (word) {
			at += __ffs(word);
			return at < size ? at : size;
		}
		at = (at / 64 + 1) * 64;
	}
	return size;
}

unsigned long find_next_bit(const unsigned long *addr, unsigned long size, unsigned long offset)
{
	return find(addr, size, offset, 0);
}

unsigned long find_next_zero_bit(const unsigned long *addr, unsigned long size, unsigned long offset)
{
	return find(addr, size, offset, ~0UL);
}

unsigned long find_last_bit(const unsigned long *addr, unsigned long size)
{
	unsigned long at = size;

	while (at-- > 0)
		if (test_bit((long)at, addr))
			return at;
	return size;
}

unsigned long int_sqrt(unsigned long x)
{
	unsigned long root = 0, bit;

	for (bit = 1UL << 31; bit; bit >>= 1)
		if ((root | bit) * (root | bit) <= x)
			root |= bit;
	return root;
}

static void jhash_mix(u32 *a, u32 *b, u32 *c)
{
	*a -= *c; *a ^= rol32(*c, 4); *c += *b;
	*b -= *a; *b ^= rol32(*a, 6); *a += *c;
	*c -= *b; *c ^= rol32(*b, 8); *b += *a;
	*a -= *c; *a ^= rol32(*c, 16); *c += *b;
	*b -= *a; *b ^= rol32(*a, 19); *a += *c;
	*c -= *b; *c ^= rol32(*b, 4); *b += *a;
}

u32 jhash(const void *key, u32 length, u32 initval)
{
	const u8 *k = key;
	u32 a = JHASH_INITVAL + length + initval, b = a, c = a;
	u32 words[3];

	for (; length > 12; length -= 12, k += 12) {
		memcpy(words, k, 12);
		a += words[0];
		b += words[1];
		c += words[2];
		jhash_mix(&a, &b, &c);
	}
	if (!length)
		return c;
	memset(words, 0, sizeof(words));
	memcpy(words, k, length);
	/* jhash_3words() adds its own start value, which is in a, b and c already. */
	return jhash_3words(a + words[0] - JHASH_INITVAL - 12, b + words[1] - JHASH_INITVAL - 12,
			    c + words[2] - JHASH_INITVAL - 12, 0);
}

static void swap_bytes(void *a, void *b, int size)
{
	u8 *x = a, *y = b;

	for (; size; size--, x++, y++)
		swap(*x, *y);
}

/* Heap sort: in place, no worst case. */
void sort(void *base, size_t num, size_t size, int (*compare)(const void *, const void *),
	  void (*swap_func)(void *, void *, int size))
{
	u8 *at = base;
	size_t begin = num / 2, end = num;

	swap_func = swap_func ?: swap_bytes;
	while (end > 1) {
		size_t root, child;

		if (begin)
			begin--;
		else
			swap_func(at, at + --end * size, (int)size);
		for (root = begin; (child = 2 * root + 1) < end; root = child) {
			if (child + 1 < end && compare(at + child * size, at + (child + 1) * size) < 0)
				child++;
			if (compare(at + root * size, at + child * size) >= 0)
				break;
			swap_func(at + root * size, at + child * size, (int)size);
		}
	}
}
