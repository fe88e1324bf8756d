/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Copies between the module and its user, who lives in the same process, in memory of its own: what is not there is
 * no user's, and a copy from or to it fails with the bytes that are left, as it does from a wrong address.
 */
#ifndef _LINUX_UACCESS_H
#define _LINUX_UACCESS_H

#include <linux/compiler.h>
#include <linux/errno.h>
#include <linux/kconfig.h>
#include <linux/sched.h>
#include <linux/string.h>
#include <linux/types.h>

#define VERIFY_READ 0
#define VERIFY_WRITE 1

/* Whether all bytes are a user's. */
extern int kapi_access_ok(const void __user *p, unsigned long n);
/* access_ok(p, n); of before 5.0 with a VERIFY_* in front. */
#define access_ok(...) KAPI_BY_COUNT(__kapi_access_ok_, __VA_ARGS__)
#define __kapi_access_ok_2(p, n) kapi_access_ok((const void __user *)(p), n)
#define __kapi_access_ok_3(kind, p, n) kapi_access_ok((const void __user *)(p), n)

extern unsigned long copy_to_user(void __user *to, const void *from, unsigned long n);
extern unsigned long copy_from_user(void *to, const void __user *from, unsigned long n);
/* For where pages may not be fetched: they do not sleep. */
extern unsigned long __copy_to_user_inatomic(void __user *to, const void *from, unsigned long n);
extern unsigned long __copy_from_user_inatomic(void *to, const void __user *from, unsigned long n);
extern unsigned long clear_user(void __user *to, unsigned long n);
extern long strncpy_from_user(char *to, const char __user *from, long n);
extern long strnlen_user(const char __user *s, long n);
/* For get_user() and put_user(): bytes of a plain variable. */
extern int kapi_get_user(void *to, const void __user *from, unsigned long n);
extern int kapi_put_user(void __user *to, const void *from, unsigned long n);

/* Return: 1 if all bytes are zero, 0 if not, -EFAULT. */
static inline int check_zeroed_user(const void __user *from, size_t n)
{
	if (!n)
		return 1;
	return kapi_access_ok(from, n) ? !memchr_inv(from, 0, n) : -EFAULT;
}
/* A record of a user whose size differs from the kernel's: what is more has to be zeroes, what lacks becomes zeroes. */
/* Of the kernel's own addresses, which may lead nowhere. */
extern long copy_from_kernel_nofault(void *to, const void *from, size_t size);
#define get_kernel_nofault(value, from) copy_from_kernel_nofault(&(value), from, sizeof(value))

static inline int copy_struct_from_user(void *to, size_t ksize, const void __user *from, size_t usize)
{
	size_t both = ksize < usize ? ksize : usize;

	if (usize > ksize) {
		int zeroed = check_zeroed_user((const char __user *)from + ksize, usize - ksize);

		if (zeroed <= 0)
			return zeroed ? zeroed : -E2BIG;
	}
	memset((char *)to + both, 0, ksize - both);
	return copy_from_user(to, from, both) ? -EFAULT : 0;
}

#define get_user(x, ptr) ({ \
	union { \
		typeof(*(ptr)) value; \
		char bytes[sizeof(*(ptr))]; \
	} __kapi_got; \
	int __kapi_error = kapi_get_user(__kapi_got.bytes, (const void __user *)(ptr), sizeof(*(ptr))); \
	(x) = (typeof(x))__kapi_got.value; \
	__kapi_error; })
#define put_user(x, ptr) ({ \
	typeof(*(ptr)) __kapi_value = (typeof(*(ptr)))(x); \
	kapi_put_user((void *)(ptr), (void *)&__kapi_value, sizeof(*(ptr))); })
#define __get_user(x, ptr) get_user(x, ptr)
#define __put_user(x, ptr) put_user(x, ptr)
#define __copy_to_user(to, from, n) copy_to_user(to, from, n)
#define __copy_from_user(to, from, n) copy_from_user(to, from, n)
#define raw_copy_to_user(to, from, n) copy_to_user(to, from, n)
#define raw_copy_from_user(to, from, n) copy_from_user(to, from, n)
static inline void pagefault_disable(void) { preempt_disable(); }
static inline void pagefault_enable(void) { preempt_enable(); }

/* Up to 5.9: what is a user's is everything from here on. */
typedef struct {
	unsigned long seg;
} mm_segment_t;
#define MAKE_MM_SEG(value) ((mm_segment_t){ value })
#define KERNEL_DS MAKE_MM_SEG(-1UL)
#define USER_DS MAKE_MM_SEG(0)
extern mm_segment_t kapi_segment(void);
extern void kapi_set_segment(mm_segment_t segment);
#define get_fs() kapi_segment()
#define get_ds() KERNEL_DS
#define set_fs(segment) kapi_set_segment(segment)

#endif
