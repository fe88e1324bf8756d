/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Ids: small integers that are taken and given back, with a pointer each (IDR) or without (IDA).
 *
 * Linux counterpart: include/linux/idr.h @ 6.1, with Documentation/core-api/idr.rst, from which this header
 * is written. The functions behind it are in the static library of crates/xarray.
 *
 * An IDR takes no lock: its user keeps writers apart; readers are in a read-side section or keep writers
 * out. An IDA takes its own lock. Error pointers and internal entries cannot be stored (-EINVAL).
 *
 * Differences from Linux: preloading does nothing, since an allocation that must not block does not fail for
 * the want of it.
 */
#ifndef _LINUX_IDR_H
#define _LINUX_IDR_H

#include <linux/radix-tree.h>
#include <linux/xarray.h>

struct idr {
	struct xarray idr_rt;
	unsigned int idr_base;
	unsigned int idr_next;
};

/* @base: no id will be below it. */
#define IDR_INIT_BASE(name, base) {					\
	.idr_rt = XARRAY_INIT(name, XA_FLAGS_ALLOC),			\
	.idr_base = (base),						\
	.idr_next = 0,							\
}
#define IDR_INIT(name) IDR_INIT_BASE(name, 0)
#define DEFINE_IDR(name) struct idr name = IDR_INIT(name)

static inline void idr_init_base(struct idr *idr, int base)
{
	xa_init_flags(&idr->idr_rt, XA_FLAGS_ALLOC);
	idr->idr_base = base;
	idr->idr_next = 0;
}

static inline void idr_init(struct idr *idr) { idr_init_base(idr, 0); }

/* Where idr_alloc_cyclic() goes on. */
static inline unsigned int idr_get_cursor(const struct idr *idr) { return READ_ONCE(idr->idr_next); }
static inline void idr_set_cursor(struct idr *idr, unsigned int val) { WRITE_ONCE(idr->idr_next, val); }
static inline bool idr_is_empty(const struct idr *idr) { return xa_empty(&idr->idr_rt); }

#define idr_lock(idr) xa_lock(&(idr)->idr_rt)
#define idr_unlock(idr) xa_unlock(&(idr)->idr_rt)
#define idr_lock_bh(idr) xa_lock_bh(&(idr)->idr_rt)
#define idr_unlock_bh(idr) xa_unlock_bh(&(idr)->idr_rt)
#define idr_lock_irq(idr) xa_lock_irq(&(idr)->idr_rt)
#define idr_unlock_irq(idr) xa_unlock_irq(&(idr)->idr_rt)
#define idr_lock_irqsave(idr, flags) xa_lock_irqsave(&(idr)->idr_rt, flags)
#define idr_unlock_irqrestore(idr, flags) xa_unlock_irqrestore(&(idr)->idr_rt, flags)

static inline void idr_preload(gfp_t gfp) { }
static inline void idr_preload_end(void) { }

/* Take the lowest free id: from @start to below @end, or of all if that is not positive. -ENOSPC, -ENOMEM. */
int idr_alloc(struct idr *idr, void *ptr, int start, int end, gfp_t gfp);
int idr_alloc_cyclic(struct idr *idr, void *ptr, int start, int end, gfp_t gfp);
/* From *@id to @max. *@id is the new id before @ptr can be found. */
int __must_check idr_alloc_u32(struct idr *idr, void *ptr, u32 *id, unsigned long max, gfp_t gfp);
void *idr_remove(struct idr *idr, unsigned long id);
void *idr_find(const struct idr *idr, unsigned long id);
/* Calls @fn until it returns something else than 0, and returns that. */
int idr_for_each(const struct idr *idr, int (*fn)(int id, void *p, void *data), void *data);
void *idr_get_next(const struct idr *idr, int *id);
void *idr_get_next_ul(const struct idr *idr, unsigned long *id);
/* Return: the old pointer, or ERR_PTR(-ENOENT) if the id is free. */
void *idr_replace(struct idr *idr, void *ptr, unsigned long id);
void idr_destroy(struct idr *idr);

/* Ids without a pointer are passed over. */
#define idr_for_each_entry(idr, entry, id) for (id = 0; ((entry) = idr_get_next(idr, &(id))) != NULL; id += 1U)
#define idr_for_each_entry_continue(idr, entry, id)			\
	for ((entry) = idr_get_next(idr, &(id)); (entry);		\
	     ++id, (entry) = idr_get_next(idr, &(id)))
/* @tmp notices that @id came around. */
#define idr_for_each_entry_ul(idr, entry, tmp, id)			\
	for (id = 0, tmp = 0;						\
	     ((entry) = tmp <= id ? idr_get_next_ul(idr, &(id)) : NULL) != NULL; \
	     tmp = id, ++id)
#define idr_for_each_entry_continue_ul(idr, entry, tmp, id)		\
	for (tmp = id;							\
	     ((entry) = tmp <= id ? idr_get_next_ul(idr, &(id)) : NULL) != NULL; \
	     tmp = id, ++id)

/* One entry of the array stands for so many ids: an integer for the lowest 63, a bitmap when more are taken. */
#define IDA_CHUNK_SIZE 128
#define IDA_BITMAP_LONGS (IDA_CHUNK_SIZE / sizeof(long))
#define IDA_BITMAP_BITS (IDA_BITMAP_LONGS * sizeof(long) * 8)

struct ida {
	struct xarray xa;
};

#define IDA_INIT_FLAGS (XA_FLAGS_LOCK_IRQ | XA_FLAGS_ALLOC)
#define IDA_INIT(name) { .xa = XARRAY_INIT(name, IDA_INIT_FLAGS) }
#define DEFINE_IDA(name) struct ida name = IDA_INIT(name)

static inline void ida_init(struct ida *ida) { xa_init_flags(&ida->xa, IDA_INIT_FLAGS); }
static inline bool ida_is_empty(const struct ida *ida) { return xa_empty(&ida->xa); }

/* Takes the lowest free id from @min to @max, INT_MAX at most. Return: it, -ENOSPC or -ENOMEM. */
int ida_alloc_range(struct ida *ida, unsigned int min, unsigned int max, gfp_t gfp);
void ida_destroy(struct ida *ida);
bool slablab_ida_free(struct ida *ida, unsigned int id);

/* Of 7.3: the lowest id from @min to @max that is taken. Return: it, -ENOENT, or -EINVAL for no range of ids. */
int slablab_ida_first(struct ida *ida, unsigned int min, unsigned int max);
static inline int ida_find_first_range(struct ida *ida, unsigned int min, unsigned int max)
{
	if ((int)min < 0)
		return -EINVAL;
	if ((int)max < 0)
		max = INT_MAX;
	return slablab_ida_first(ida, min, max);
}
static inline int ida_find_first(struct ida *ida) { return ida_find_first_range(ida, 0, ~0U); }
static inline bool ida_exists(struct ida *ida, unsigned int id) { return ida_find_first_range(ida, id, id) == (int)id; }

static inline int ida_alloc(struct ida *ida, gfp_t gfp) { return ida_alloc_range(ida, 0, ~0U, gfp); }

static inline int ida_alloc_min(struct ida *ida, unsigned int min, gfp_t gfp)
{
	return ida_alloc_range(ida, min, ~0U, gfp);
}

static inline int ida_alloc_max(struct ida *ida, unsigned int max, gfp_t gfp)
{
	return ida_alloc_range(ida, 0, max, gfp);
}

static inline void ida_free(struct ida *ida, unsigned int id)
{
	if ((int)id >= 0)
		WARN(!slablab_ida_free(ida, id), "ida_free called for id=%d which is not allocated.\n", id);
}

/* Names that are gone: @end is the first id that is not wanted. */
#define ida_simple_get(ida, start, end, gfp) ida_alloc_range(ida, start, (end) - 1, gfp)
#define ida_simple_remove(ida, id) ida_free(ida, id)

/* The calls of before 3.9: a number is asked for after idr_pre_get(), and again while that is -EAGAIN. */
static inline int idr_pre_get(struct idr *idr, gfp_t gfp) { return 1; }

static inline int idr_get_new_above(struct idr *idr, void *ptr, int start, int *id)
{
	int got = idr_alloc(idr, ptr, start, 0, GFP_ATOMIC);

	if (got < 0)
		return got == -ENOMEM ? -EAGAIN : got;
	*id = got;
	return 0;
}
#define idr_get_new(idr, ptr, id) idr_get_new_above(idr, ptr, 0, id)
#define idr_remove_all(idr) idr_destroy(idr)

static inline int ida_pre_get(struct ida *ida, gfp_t gfp) { return 1; }

static inline int ida_get_new_above(struct ida *ida, int start, int *id)
{
	int got = ida_alloc_min(ida, (unsigned int)start, GFP_ATOMIC);

	if (got < 0)
		return got == -ENOMEM ? -EAGAIN : got;
	*id = got;
	return 0;
}
#define ida_get_new(ida, id) ida_get_new_above(ida, 0, id)
#define ida_remove(ida, id) ida_free(ida, id)

#endif
