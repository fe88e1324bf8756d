/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The kernel's integer types, and the list heads that everything embeds. */
#ifndef _LINUX_TYPES_H
#define _LINUX_TYPES_H

#include <linux/stddef.h>

typedef signed char __s8, s8, int8_t;
typedef short __s16, s16, int16_t;
typedef int __s32, s32, int32_t;
typedef long long __s64, s64;
typedef long int64_t;
typedef unsigned char __u8, u8, uint8_t, u_int8_t, u_char, unchar;
typedef unsigned short __u16, u16, uint16_t, u_int16_t, u_short, ushort, __le16, __be16, __sum16;
typedef unsigned int __u32, u32, uint32_t, u_int32_t, u_int, uint, __le32, __be32, __wsum;
typedef unsigned long long __u64, u64, __le64, __be64, ullong;
typedef unsigned long uint64_t, u_int64_t, u_long, ulong;

typedef _Bool bool;
enum { false = 0, true = 1 };

typedef unsigned long __kernel_size_t, size_t, uintptr_t, ino_t, pgoff_t, pteval_t, irq_hw_number_t;
typedef long __kernel_ssize_t, ssize_t, ptrdiff_t, intptr_t, off_t, time_t, clock_t, suseconds_t;
typedef long long loff_t, time64_t;
typedef int pid_t, clockid_t;
typedef unsigned short umode_t;
typedef unsigned int uid_t, gid_t, mode_t, nlink_t, dev_t, gfp_t, slab_flags_t, fmode_t, __poll_t;
typedef u64 sector_t, blkcnt_t, phys_addr_t, dma_addr_t, resource_size_t;
typedef char *caddr_t;

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
#define BITS_PER_TYPE(type) (sizeof(type) * BITS_PER_BYTE)
#define __KAPI_BITS_TO(type, bits) (((bits) + 8 * sizeof(type) - 1) / (8 * sizeof(type)))
#define BITS_TO_LONGS(bits) __KAPI_BITS_TO(long, bits)
#define DECLARE_BITMAP(name, bits) unsigned long name[BITS_TO_LONGS(bits)]
#define aligned_u64 __attribute__((aligned(8))) __u64

#endif
