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

static inline unsigned long copy_to_user(void __user *to, const void *from, unsigned long n)
{
	memcpy(to, from, n);
	return 0;
}

static inline unsigned long copy_from_user(void *to, const void __user *from, unsigned long n)
{
	memcpy(to, from, n);
	return 0;
}

static inline unsigned long clear_user(void __user *to, unsigned long n)
{
	memset(to, 0, n);
	return 0;
}
#define __copy_to_user(to, from, n) copy_to_user(to, from, n)
#define __copy_from_user(to, from, n) copy_from_user(to, from, n)
#define get_user(x, ptr) ({ \
	(x) = *(ptr); \
	0; })
#define put_user(x, ptr) ({ \
	*(ptr) = (x); \
	0; })
#define __get_user(x, ptr) get_user(x, ptr)
#define __put_user(x, ptr) put_user(x, ptr)
#define strncpy_from_user(to, from, n) (strncpy(to, from, n), (long)strnlen(to, n))
#define strnlen_user(s, n) ((long)strnlen(s, n) + 1)

#endif
