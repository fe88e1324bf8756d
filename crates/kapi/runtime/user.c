// SPDX-License-Identifier: MIT OR Apache-2.0
// A user's memory, and copies from and to it.
//
// How it works: a user's buffers are parts of one area. What a module copies from or to has to lie in it, as a
// user's addresses lie below the kernel's; a part is as large as the largest read or write of a step.
#include "host.h"
#include <linux/err.h>
#include <linux/kernel.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/uaccess.h>

static char area[KAPI_USER_BUFFERS][KAPI_USER_BYTES] __attribute__((__aligned__(4096)));
static bool taken[KAPI_USER_BUFFERS];
static DEFINE_SPINLOCK(lock);

char __user *kapi_user_take(void)
{
	unsigned long flags;
	int i;

	spin_lock_irqsave(&lock, flags);
	for (i = 0; i < KAPI_USER_BUFFERS && taken[i]; i++)
		;
	if (i < KAPI_USER_BUFFERS)
		taken[i] = true;
	spin_unlock_irqrestore(&lock, flags);
	return i < KAPI_USER_BUFFERS ? area[i] : NULL;
}

void kapi_user_give(char __user *buffer) { taken[(buffer - area[0]) / KAPI_USER_BYTES] = false; }

int kapi_access_ok(const void __user *p, unsigned long n)
{
	unsigned long at = (unsigned long)p - (unsigned long)area;

	return current->kapi_segment || (at < sizeof(area) && n <= sizeof(area) - at) || !n;
}

mm_segment_t kapi_segment(void) { return MAKE_MM_SEG(current->kapi_segment); }
void kapi_set_segment(mm_segment_t next) { current->kapi_segment = next.seg; }

unsigned long __copy_to_user_inatomic(void __user *to, const void *from, unsigned long n)
{
	if (!kapi_access_ok(to, n))
		return n;
	memcpy(to, from, n);
	return 0;
}

/* What could not be copied becomes zeroes. */
unsigned long __copy_from_user_inatomic(void *to, const void __user *from, unsigned long n)
{
	if (!kapi_access_ok(from, n)) {
		memset(to, 0, n);
		return n;
	}
	memcpy(to, from, n);
	return 0;
}

unsigned long copy_to_user(void __user *to, const void *from, unsigned long n)
{
	might_sleep();
	kapi_reads(__func__, from, kapi_module_site());
	return __copy_to_user_inatomic(to, from, n);
}

unsigned long copy_from_user(void *to, const void __user *from, unsigned long n)
{
	might_sleep();
	return __copy_from_user_inatomic(to, from, n);
}

unsigned long clear_user(void __user *to, unsigned long n)
{
	might_sleep();
	if (!kapi_access_ok(to, n))
		return n;
	memset(to, 0, n);
	return 0;
}

int kapi_get_user(void *to, const void __user *from, unsigned long n)
{
	might_sleep();
	return __copy_from_user_inatomic(to, from, n) ? -EFAULT : 0;
}

int kapi_put_user(void __user *to, const void *from, unsigned long n)
{
	might_sleep();
	return __copy_to_user_inatomic(to, from, n) ? -EFAULT : 0;
}

/* How many bytes from @s on are a user's, @n at most. */
static unsigned long readable(const char __user *s, unsigned long n)
{
	unsigned long at = (unsigned long)s - (unsigned long)area;

	if (current->kapi_segment)
		return n;
	return at < sizeof(area) ? min(n, sizeof(area) - at) : 0;
}

long strncpy_from_user(char *to, const char __user *from, long n)
{
	unsigned long len, bytes = readable(from, (unsigned long)n);

	might_sleep();
	if (n <= 0)
		return 0;
	if (!bytes)
		return -EFAULT;
	len = strnlen(from, bytes);
	if (len == bytes && bytes < (unsigned long)n)
		return -EFAULT;
	memcpy(to, from, min(len + 1, bytes));
	return (long)len;
}

/* With the zero at the end; 0 if it cannot be read, more than @n if it is longer. */
long strnlen_user(const char __user *s, long n)
{
	unsigned long bytes = n > 0 ? readable(s, (unsigned long)n) : 0;

	might_sleep();
	return bytes ? (long)strnlen(s, bytes) + 1 : 0;
}

static void *copied(void *to, const void __user *from, size_t n)
{
	if (!to)
		return ERR_PTR(-ENOMEM);
	if (!copy_from_user(to, from, n))
		return to;
	kvfree(to);
	return ERR_PTR(-EFAULT);
}

void *memdup_user(const void __user *from, size_t n)
{
	return copied(kapi_kmalloc_for(n, GFP_USER | __GFP_NOWARN, kapi_module_site()), from, n);
}

void *vmemdup_user(const void __user *from, size_t n) { return copied(kvmalloc(n, GFP_USER), from, n); }

void *memdup_user_nul(const void __user *from, size_t n)
{
	char *to = copied(kapi_kmalloc_for(n + 1, GFP_KERNEL, kapi_module_site()), from, n);

	if (!IS_ERR(to))
		to[n] = '\0';
	return to;
}

char *strndup_user(const char __user *s, long n)
{
	long len = strnlen_user(s, n);
	char *to;

	if (!len)
		return ERR_PTR(-EFAULT);
	if (len > n)
		return ERR_PTR(-EINVAL);
	to = copied(kapi_kmalloc_for((size_t)len, GFP_USER, kapi_module_site()), s, (size_t)len);
	if (!IS_ERR(to))
		to[len - 1] = '\0';
	return to;
}

long copy_from_kernel_nofault(void *to, const void *from, size_t size)
{
	return kapi_read_nofault(to, from, size) ? 0 : -EFAULT;
}
