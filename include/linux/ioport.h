/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Ranges of addresses that a device is said to have, and trees of them. Nothing is behind them.
 *
 * A parent has its children in order of their addresses, and none of them overlaps another.
 *
 * Linux counterpart: include/linux/ioport.h @ 6.12.
 */
#ifndef _LINUX_IOPORT_H
#define _LINUX_IOPORT_H

#include <linux/types.h>

struct resource {
	resource_size_t start, end;
	const char *name;
	unsigned long flags;
	unsigned long desc;
	struct resource *parent, *sibling, *child;
};

#define IORESOURCE_IO 0x00000100
#define IORESOURCE_MEM 0x00000200
#define IORESOURCE_IRQ 0x00000400
#define IORESOURCE_DMA 0x00000800
#define IORESOURCE_TYPE_BITS 0x00001f00
#define IORESOURCE_MUXED 0x00400000
#define IORESOURCE_SYSRAM 0x01000000
#define IORESOURCE_EXCLUSIVE 0x08000000
#define IORESOURCE_DISABLED 0x10000000
#define IORESOURCE_UNSET 0x20000000
#define IORESOURCE_BUSY 0x80000000
#define IORESOURCE_SYSTEM_RAM (IORESOURCE_MEM | IORESOURCE_SYSRAM)

enum { IORES_DESC_NONE = 0 };
/* How a run of addresses lies to resources of one kind: all in them, none in them, or both. */
enum { REGION_INTERSECTS, REGION_DISJOINT, REGION_MIXED };

extern struct resource ioport_resource, iomem_resource;

static inline resource_size_t resource_size(const struct resource *res) { return res->end - res->start + 1; }
static inline unsigned long resource_type(const struct resource *res) { return res->flags & IORESOURCE_TYPE_BITS; }
#define DEFINE_RES_NAMED(_start, _size, _name, _flags) \
	(struct resource){ .start = (_start), .end = (_start) + (_size) - 1, .name = (_name), .flags = (_flags) }
#define DEFINE_RES_MEM(start, size) DEFINE_RES_NAMED(start, size, NULL, IORESOURCE_MEM)
#define DEFINE_RES_MEM_NAMED(start, size, name) DEFINE_RES_NAMED(start, size, name, IORESOURCE_MEM)

/* Whether all of one lies in the other, and both are of a type; and whether they have an address together. */
static inline bool resource_contains(const struct resource *r1, const struct resource *r2)
{
	return resource_type(r1) == resource_type(r2) && !((r1->flags | r2->flags) & IORESOURCE_UNSET) &&
	       r1->start <= r2->start && r1->end >= r2->end;
}

static inline bool resource_overlaps(const struct resource *r1, const struct resource *r2)
{
	return r1->start <= r2->end && r1->end >= r2->start;
}

/* What two have together, and what they cover, if they overlap. */
static inline bool resource_intersection(const struct resource *r1, const struct resource *r2, struct resource *r)
{
	if (!resource_overlaps(r1, r2))
		return false;
	r->start = r1->start > r2->start ? r1->start : r2->start;
	r->end = r1->end < r2->end ? r1->end : r2->end;
	return true;
}

static inline bool resource_union(const struct resource *r1, const struct resource *r2, struct resource *r)
{
	if (!resource_overlaps(r1, r2))
		return false;
	r->start = r1->start < r2->start ? r1->start : r2->start;
	r->end = r1->end > r2->end ? r1->end : r2->end;
	return true;
}

/* Puts a range below another one. Return: 0, or -EBUSY if it overlaps a child. */
extern int request_resource(struct resource *root, struct resource *new);
extern int release_resource(struct resource *old);
/* Also between a parent and those children that lie in it. Return: 0, or -EBUSY if it cuts through one. */
extern int insert_resource(struct resource *parent, struct resource *new);
/* Its children become its parent's. Return: 0, or -EINVAL if it is in no tree. */
extern int remove_resource(struct resource *old);
/* Return: a new range, below @parent or below children that are not busy, or NULL if a busy one is in the way. */
extern struct resource *__request_region(struct resource *parent, resource_size_t start, resource_size_t n,
					 const char *name, int flags);
extern void __release_region(struct resource *parent, resource_size_t start, resource_size_t n);
/* Return: a new range at the highest addresses that are free, or an error. */
extern struct resource *alloc_free_mem_region(struct resource *base, unsigned long size, unsigned long align,
					      const char *name);
extern int region_intersects(resource_size_t start, size_t size, unsigned long flags, unsigned long desc);
#define request_region(start, n, name) __request_region(&ioport_resource, (start), (n), (name), 0)
#define request_mem_region(start, n, name) __request_region(&iomem_resource, (start), (n), (name), 0)
#define release_region(start, n) __release_region(&ioport_resource, (start), (n))
#define release_mem_region(start, n) __release_region(&iomem_resource, (start), (n))

#endif
