/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * How large the kernel's structures are that memory is asked for: those of the type information (BTF) in Debian's images
 * linux-image-6.1.0-56-amd64 (6.1.192), linux-image-6.12.118+deb13-amd64 and linux-binary-7.3.4+deb13-amd64.
 *
 * How it works: a structure of ours is a union of its fields and of as many bytes as the kernel's has. Where our fields take
 * more, KAPI_IS_LARGE() is an error of the compiler. Releases between those have the numbers of the one before.
 */
#ifndef _KAPI_BYTES_H
#define _KAPI_BYTES_H

#include <linux/version.h>

#if LINUX_VERSION_CODE < 0x060c00
#define KAPI_BYTES(of_6_1, of_6_12, of_7_3) of_6_1
#elif LINUX_VERSION_CODE < 0x070000
#define KAPI_BYTES(of_6_1, of_6_12, of_7_3) of_6_12
#else
#define KAPI_BYTES(of_6_1, of_6_12, of_7_3) of_7_3
#endif

#define KAPI_IS_LARGE(type, bytes) _Static_assert(sizeof(type) == (bytes), "as large as the kernel's")

#define KAPI_NET_DEVICE_BYTES KAPI_BYTES(2432, 2560, 2816)
#define KAPI_NETDEV_QUEUE_BYTES 320
#define KAPI_NETDEV_RX_QUEUE_BYTES KAPI_BYTES(192, 192, 256)
#define KAPI_NETDEV_HW_ADDR_BYTES 104
#define KAPI_NETDEV_NAME_NODE_BYTES KAPI_BYTES(48, 64, 64)
/* Since 6.11, 6.14 and 6.14. */
#define KAPI_ETHTOOL_NETDEV_STATE_BYTES KAPI_BYTES(0, 56, 48)
#define KAPI_NETDEV_CONFIG_BYTES KAPI_BYTES(0, 0, 8)
#define KAPI_NAPI_CONFIG_BYTES KAPI_BYTES(0, 0, 1056)
#define KAPI_NAPI_STRUCT_BYTES KAPI_BYTES(400, 400, 512)
#define KAPI_PACKET_TYPE_BYTES 72
#define KAPI_SOCK_BYTES KAPI_BYTES(776, 776, 800)
#define KAPI_NETLINK_SOCK_BYTES KAPI_BYTES(1088, 1088, 1104)
/* The bits of 32 groups, behind the head of a list that RCU frees. */
#define KAPI_NETLINK_LISTENERS_BYTES 24
#define KAPI_GENL_DUMPIT_INFO_BYTES KAPI_BYTES(64, 112, 144)
#define KAPI_PAGE_POOL_BYTES KAPI_BYTES(1600, 1664, 1728)
#define KAPI_SK_BUFF_BYTES 232
#define KAPI_SK_BUFF_FCLONES_BYTES 472
#define KAPI_SKB_SHARED_INFO_BYTES 320
#define KAPI_DEVICE_BYTES KAPI_BYTES(752, 768, 792)
#define KAPI_PLATFORM_DEVICE_BYTES KAPI_BYTES(832, 840, 864)
/* That of 6.1 is reckoned: its device has 16 bytes less than that of 6.12. */
#define KAPI_INPUT_DEV_BYTES KAPI_BYTES(1376, 1392, 1408)
#define KAPI_MUTEX_BYTES KAPI_BYTES(32, 32, 24)
#define KAPI_RW_SEMAPHORE_BYTES KAPI_BYTES(40, 40, 32)
#define KAPI_SEMAPHORE_BYTES 24
#define KAPI_HRTIMER_BYTES KAPI_BYTES(64, 64, 80)
#define KAPI_PERCPU_COUNTER_BYTES 40
#define KAPI_LIST_LRU_BYTES 48
#define KAPI_CDEV_BYTES 104
/* Those of old kernels have more: a number for the function. */
#define KAPI_TIMER_LIST_BYTES (LINUX_VERSION_CODE < 0x040f00 ? 48 : 40)
#define KAPI_WORK_STRUCT_BYTES (LINUX_VERSION_CODE < 0x020614 ? 40 : 32)
#define KAPI_DELAYED_WORK_BYTES (KAPI_WORK_STRUCT_BYTES + KAPI_TIMER_LIST_BYTES + 16)
#define KAPI_TASKLET_STRUCT_BYTES 40
#define KAPI_MAPLE_TREE_BYTES KAPI_BYTES(24, 16, 16)
/* Since 6.7 the kernel allocates it. */
#define KAPI_SHRINKER_BYTES (LINUX_VERSION_CODE < 0x060700 ? 64 : 128)
#define KAPI_RHASHTABLE_BYTES (KAPI_WORK_STRUCT_BYTES + KAPI_BYTES(104, 104, 128))
#define KAPI_INODE_BYTES KAPI_BYTES(632, 624, 560)
#define KAPI_FILE_BYTES KAPI_BYTES(232, 184, 176)
#define KAPI_DENTRY_BYTES 192
#define KAPI_ADDRESS_SPACE_BYTES KAPI_BYTES(192, 192, 152)
#define KAPI_SUPER_BLOCK_BYTES KAPI_BYTES(1472, 1408, 1408)

#endif
