/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Copies between the module and its "user", who lives in the same process. */
#ifndef _LINUX_UACCESS_H
#define _LINUX_UACCESS_H

#include <linux/compiler.h>
#include <linux/errno.h>
#include <linux/sched.h>
#include <linux/string.h>
#include <linux/types.h>

#define VERIFY_READ 0
#define VERIFY_WRITE 1
#define access_ok(...) 1

/* The user's page may have to be fetched: what copies sleeps. */
extern void kapi_might_fault(const char *name);

static inline unsigned long copy_to_user(void __user *to, const void *from, unsigned long n)
{
	kapi_might_fault(__func__);
	memcpy(to, from, n);
	return 0;
}

static inline unsigned long copy_from_user(void *to, const void __user *from, unsigned long n)
{
	kapi_might_fault(__func__);
	memcpy(to, from, n);
	return 0;
}

static inline unsigned long clear_user(void __user *to, unsigned long n)
{
	kapi_might_fault(__func__);
	memset(to, 0, n);
	return 0;
}
/* Return: 1 if all bytes are zero, else 0. */
static inline int check_zeroed_user(const void __user *from, size_t n) { return !n || !memchr_inv(from, 0, n); }
/* A record of a user whose size differs from the kernel's: what is more has to be zeroes, what lacks becomes zeroes. */
static inline int copy_struct_from_user(void *to, size_t ksize, const void __user *from, size_t usize)
{
	size_t both = ksize < usize ? ksize : usize;

	if (usize > ksize && !check_zeroed_user((const char __user *)from + ksize, usize - ksize))
		return -E2BIG;
	memset((char *)to + both, 0, ksize - both);
	memcpy(to, from, both);
	return 0;
}
#define __copy_to_user(to, from, n) copy_to_user(to, from, n)
#define __copy_from_user(to, from, n) copy_from_user(to, from, n)
#define get_user(x, ptr) ({ \
	kapi_might_fault("get_user"); \
	(x) = *(ptr); \
	0; })
#define put_user(x, ptr) ({ \
	kapi_might_fault("put_user"); \
	*(ptr) = (x); \
	0; })
#define __get_user(x, ptr) get_user(x, ptr)
#define __put_user(x, ptr) put_user(x, ptr)
#define strncpy_from_user(to, from, n) (strncpy(to, from, n), (long)strnlen(to, n))
#define strnlen_user(s, n) ((long)strnlen(s, n) + 1)

#endif
