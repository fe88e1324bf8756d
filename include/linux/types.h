/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The kernel's integer types, and the list heads that everything embeds. */
#ifndef _LINUX_TYPES_H
#define _LINUX_TYPES_H

#include <linux/stddef.h>

typedef signed char __s8;
typedef unsigned char __u8;
typedef short __s16;
typedef unsigned short __u16;
typedef int __s32;
typedef unsigned int __u32;
typedef long long __s64;
typedef unsigned long long __u64;

typedef __s8 s8;
typedef __u8 u8;
typedef __s16 s16;
typedef __u16 u16;
typedef __s32 s32;
typedef __u32 u32;
typedef __s64 s64;
typedef __u64 u64;

typedef __s8 int8_t;
typedef __u8 uint8_t;
typedef __s16 int16_t;
typedef __u16 uint16_t;
typedef __s32 int32_t;
typedef __u32 uint32_t;
typedef long int64_t;
typedef unsigned long uint64_t;
typedef __u8 u_int8_t;
typedef __u16 u_int16_t;
typedef __u32 u_int32_t;
typedef unsigned long u_int64_t;

typedef __u16 __le16;
typedef __u16 __be16;
typedef __u32 __le32;
typedef __u32 __be32;
typedef __u64 __le64;
typedef __u64 __be64;
typedef __u16 __sum16;
typedef __u32 __wsum;

typedef unsigned char u_char, unchar;
typedef unsigned short u_short, ushort;
typedef unsigned int u_int, uint;
typedef unsigned long u_long, ulong;

typedef _Bool bool;
enum { false = 0, true = 1 };

typedef unsigned long __kernel_size_t;
typedef long __kernel_ssize_t;
typedef __kernel_size_t size_t;
typedef __kernel_ssize_t ssize_t;
typedef long ptrdiff_t;
typedef unsigned long uintptr_t;
typedef long intptr_t;

typedef long long loff_t;
typedef long off_t;
typedef long time_t;
typedef long clock_t;
typedef long suseconds_t;
typedef s64 time64_t;
typedef int pid_t;
typedef int clockid_t;
typedef unsigned int uid_t;
typedef unsigned int gid_t;
typedef unsigned int mode_t;
typedef unsigned short umode_t;
typedef unsigned int nlink_t;
typedef u32 dev_t;
typedef unsigned long ino_t;
typedef u64 sector_t;
typedef u64 blkcnt_t;
typedef unsigned long pgoff_t;
typedef unsigned long pteval_t;
typedef u64 phys_addr_t;
typedef u64 dma_addr_t;
typedef phys_addr_t resource_size_t;
typedef unsigned int gfp_t;
typedef unsigned int slab_flags_t;
typedef unsigned int fmode_t;
typedef unsigned int __poll_t;
typedef char *caddr_t;
typedef unsigned long irq_hw_number_t;

typedef struct {
	int counter;
} atomic_t;

typedef struct {
	s64 counter;
} atomic64_t;
typedef atomic64_t atomic_long_t;

#define ATOMIC_INIT(i) { (i) }
#define ATOMIC64_INIT(i) { (i) }
#define ATOMIC_LONG_INIT(i) { (i) }

struct list_head {
	struct list_head *next, *prev;
};

struct hlist_node {
	struct hlist_node *next, **pprev;
};

struct hlist_head {
	struct hlist_node *first;
};

struct callback_head {
	struct callback_head *next;
	void (*func)(struct callback_head *head);
};
#define rcu_head callback_head
typedef void (*rcu_callback_t)(struct rcu_head *head);
typedef void (*call_rcu_func_t)(struct rcu_head *head, rcu_callback_t func);

#define BITS_PER_BYTE 8
#define __KAPI_BITS_TO(type, bits) (((bits) + 8 * sizeof(type) - 1) / (8 * sizeof(type)))
#define BITS_TO_LONGS(bits) __KAPI_BITS_TO(long, bits)
#define DECLARE_BITMAP(name, bits) unsigned long name[BITS_TO_LONGS(bits)]
#define aligned_u64 __attribute__((aligned(8))) __u64

#endif
