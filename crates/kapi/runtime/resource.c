// SPDX-License-Identifier: MIT OR Apache-2.0
// Trees of ranges of addresses. Children lie in order below their parent, and none overlaps another.
#include <linux/align.h>
#include <linux/err.h>
#include <linux/ioport.h>
#include <linux/kernel.h>
#include <linux/slab.h>
#include <linux/spinlock.h>

/* Addresses of memory have 46 bits, as on x86-64 with four levels of page tables. */
#define MEMORY_BITS 46

struct resource ioport_resource = { .name = "PCI IO", .end = 0xffff, .flags = IORESOURCE_IO };
struct resource iomem_resource = { .name = "PCI mem", .end = (1ULL << MEMORY_BITS) - 1, .flags = IORESOURCE_MEM };

static DEFINE_SPINLOCK(lock);

/* Where a child would stand that begins at @start: behind those that end before. */
static struct resource **place(struct resource *parent, resource_size_t start)
{
	struct resource **at = &parent->child;

	while (*at && (*at)->end < start)
		at = &(*at)->sibling;
	return at;
}

/* Returns what is in the way of a new child: another one, the parent if the range is not in it, or NULL once it stands. */
static struct resource *request(struct resource *parent, struct resource *new)
{
	struct resource **at;

	if (new->end < new->start || new->start < parent->start || new->end > parent->end)
		return parent;
	at = place(parent, new->start);
	if (*at && (*at)->start <= new->end)
		return *at;
	new->sibling = *at;
	new->parent = parent;
	*at = new;
	return NULL;
}

int request_resource(struct resource *root, struct resource *new)
{
	struct resource *other;

	spin_lock(&lock);
	other = request(root, new);
	spin_unlock(&lock);
	return other ? -EBUSY : 0;
}

/* Takes a range out of its tree; @heirs says whether its children stay where it was. */
static int take(struct resource *old, bool heirs)
{
	struct resource **at, *child;

	if (!old->parent)
		return -EINVAL;
	for (at = &old->parent->child; *at != old; at = &(*at)->sibling)
		if (!*at)
			return -EINVAL;
	*at = old->sibling;
	if (heirs && old->child) {
		*at = old->child;
		for (child = old->child;; child = child->sibling) {
			child->parent = old->parent;
			if (!child->sibling)
				break;
		}
		child->sibling = old->sibling;
		old->child = NULL;
	}
	old->parent = old->sibling = NULL;
	return 0;
}

int release_resource(struct resource *old)
{
	int error;

	spin_lock(&lock);
	error = take(old, false);
	spin_unlock(&lock);
	return error;
}

int remove_resource(struct resource *old)
{
	int error;

	spin_lock(&lock);
	error = take(old, true);
	spin_unlock(&lock);
	return error;
}

static bool is_inside(const struct resource *inner, const struct resource *outer)
{
	return outer->start <= inner->start && inner->end <= outer->end;
}

/* The innermost range that has all of @new and is larger. */
static struct resource *innermost(struct resource *parent, const struct resource *new)
{
	struct resource *child;

	while ((child = *place(parent, new->start)) && is_inside(new, child) && !is_inside(child, new))
		parent = child;
	return parent;
}

int insert_resource(struct resource *parent, struct resource *new)
{
	struct resource **at, **end, *child;
	int error = -EBUSY;

	spin_lock(&lock);
	parent = innermost(parent, new);
	if (new->end < new->start || !is_inside(new, parent))
		goto out;
	at = place(parent, new->start);
	for (end = at; *end && (*end)->start <= new->end; end = &(*end)->sibling)
		if (!is_inside(*end, new))
			goto out;
	error = 0;
	new->parent = parent;
	new->child = end == at ? NULL : *at;
	new->sibling = *end;
	*end = NULL;
	*at = new;
	for (child = new->child; child; child = child->sibling)
		child->parent = new;
out:
	spin_unlock(&lock);
	return error;
}

static struct resource *range(resource_size_t start, resource_size_t n, const char *name)
{
	struct resource *res = kzalloc(sizeof(*res), GFP_KERNEL);

	if (res) {
		res->name = name;
		res->start = start;
		res->end = start + n - 1;
	}
	return res;
}

struct resource *__request_region(struct resource *parent, resource_size_t start, resource_size_t n, const char *name,
				  int flags)
{
	struct resource *res = range(start, n, name), *other;

	if (!res)
		return NULL;
	spin_lock(&lock);
	do {
		res->flags = resource_type(parent) | (parent->flags & IORESOURCE_SYSRAM) | (unsigned int)flags | IORESOURCE_BUSY;
		res->desc = parent->desc;
		other = request(parent, res);
		if (!other || other == parent || other->flags & IORESOURCE_BUSY)
			break;
		parent = other;
	} while (true);
	spin_unlock(&lock);
	if (!other)
		return res;
	kfree(res);
	return NULL;
}

void __release_region(struct resource *parent, resource_size_t start, resource_size_t n)
{
	struct resource *res;

	spin_lock(&lock);
	while ((res = *place(parent, start)) && res->start <= start && res->end >= start + n - 1) {
		if (res->flags & IORESOURCE_BUSY && res->start == start && res->end == start + n - 1) {
			take(res, false);
			break;
		}
		parent = res;
		res = NULL;
	}
	spin_unlock(&lock);
	if (!res)
		printk(KERN_WARNING "Trying to free nonexistent resource <%pa-%pa>\n", &start, &(resource_size_t){ start + n - 1 });
	kfree(res);
}

struct resource *alloc_free_mem_region(struct resource *base, unsigned long size, unsigned long align, const char *name)
{
	resource_size_t start = ALIGN_DOWN(base->end - size + 1, align);
	struct resource *res, *other;

	if (!size || size > base->end - base->start)
		return ERR_PTR(-EINVAL);
	res = range(start, size, name);
	if (!res)
		return ERR_PTR(-ENOMEM);
	res->flags = IORESOURCE_MEM;
	spin_lock(&lock);
	while ((other = request(base, res)) && other != base && other->start >= base->start + size) {
		res->start = ALIGN_DOWN(other->start - size, align);
		res->end = res->start + size - 1;
	}
	spin_unlock(&lock);
	if (!other)
		return res;
	kfree(res);
	return ERR_PTR(-ERANGE);
}

/* What was seen of a run of addresses: ranges of the kind, and whether there are others. */
struct seen {
	unsigned long flags, desc;
	bool kind, others;
};

/* Looks at @start to @end below a range, whose addresses without a child are others. */
static void look(struct resource *parent, resource_size_t start, resource_size_t end, struct seen *seen)
{
	struct resource *child;

	for (child = *place(parent, start); child && child->start <= end; child = child->sibling) {
		seen->others |= parent->parent && child->start > start;
		start = max(start, child->start);
		if ((child->flags & seen->flags) == seen->flags && (!seen->desc || seen->desc == child->desc))
			seen->kind = true;
		else
			look(child, start, min(end, child->end), seen);
		start = child->end + 1;
	}
	seen->others |= parent->parent && start <= end;
}

int region_intersects(resource_size_t start, size_t size, unsigned long flags, unsigned long desc)
{
	struct seen seen = { .flags = flags, .desc = desc };

	spin_lock(&lock);
	look(&iomem_resource, start, start + size - 1, &seen);
	spin_unlock(&lock);
	if (!seen.kind)
		return REGION_DISJOINT;
	return seen.others ? REGION_MIXED : REGION_INTERSECTS;
}
