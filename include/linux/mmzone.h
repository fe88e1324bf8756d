/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Orders, zones. */
#ifndef _LINUX_MMZONE_H
#define _LINUX_MMZONE_H

#include <linux/random.h>
#include <linux/types.h>
#include <linux/version.h>
#include <asm/page.h>

/* Up to 6.4 the number of orders, since then the highest order; blocks reach 4 MiB in both. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 4, 0)
#define MAX_ORDER 11
#else
#define MAX_ORDER 10
#endif
#define MAX_PAGE_ORDER 10
#define NR_PAGE_ORDERS 11
#define MAX_ORDER_NR_PAGES (1 << MAX_PAGE_ORDER)
#define PAGE_ALLOC_COSTLY_ORDER 3

enum zone_type {
	ZONE_DMA,
	ZONE_DMA32,
	ZONE_NORMAL,
	ZONE_MOVABLE,
	__MAX_NR_ZONES
};
#define MAX_NR_ZONES 4

#endif
