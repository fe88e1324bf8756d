/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Ranges of addresses that a device is said to have. Nothing is behind them. */
#ifndef _LINUX_IOPORT_H
#define _LINUX_IOPORT_H

#include <linux/types.h>

struct resource {
	resource_size_t start, end;
	const char *name;
	unsigned long flags;
};

#define IORESOURCE_IO 0x00000100
#define IORESOURCE_MEM 0x00000200
#define IORESOURCE_IRQ 0x00000400
#define IORESOURCE_DMA 0x00000800
#define IORESOURCE_TYPE_BITS 0x00001f00

static inline resource_size_t resource_size(const struct resource *res) { return res->end - res->start + 1; }
static inline unsigned long resource_type(const struct resource *res) { return res->flags & IORESOURCE_TYPE_BITS; }
#define DEFINE_RES_NAMED(_start, _size, _name, _flags) \
	(struct resource){ .start = (_start), .end = (_start) + (_size) - 1, .name = (_name), .flags = (_flags) }
#define DEFINE_RES_MEM(start, size) DEFINE_RES_NAMED(start, size, NULL, IORESOURCE_MEM)
#define DEFINE_RES_MEM_NAMED(start, size, name) DEFINE_RES_NAMED(start, size, name, IORESOURCE_MEM)

#endif
