/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The extensible array: any unsigned long to a pointer or an integer.
 *
 * An entry is a word; its low two bits say what it is:
 *
 *   00  a pointer
 *   x1  an integer, or a pointer with tag 1 or 3
 *   10  internal: 0..62 sibling, 256 retry, 257 zero (reserved); errors are -4095..-1 shifted
 *
 * Linux counterpart: include/linux/xarray.h @ 6.1, with Documentation/core-api/xarray.rst. This header is
 * written from that documentation. The functions behind it are in the static library of crates/xarray.
 *
 * Differences from Linux: struct xa_node shows a shift and nothing else that is true; a cursor goes down
 * from the head at each step, so it never meets retry entries; locks are never dropped to wait for memory;
 * the callback of xas_set_update() is never called.
 *
 * A module (-D__KERNEL__, -nostdinc) gets the kernel's other headers with it. A program that has libc's headers
 * gets what stands in <kapi/hosted.h> instead, and links nothing but the library. (With -idirafter, since libc's
 * headers look for some <linux/...> of their own.)
 *
 *   cargo build --release -p slablab-xarray --features capi
 *   gcc -idirafter include program.c target/release/libslablab_xarray.a -lpthread
 */
#ifndef _LINUX_XARRAY_H
#define _LINUX_XARRAY_H

#if !defined(__KERNEL__) && !defined(_LINUX_COMPILER_H) && __has_include(<features.h>)
#include <kapi/hosted.h>
#include <linux/gfp_types.h>
#else
#include <linux/bug.h>
#include <linux/compiler.h>
#include <linux/err.h>
#include <linux/gfp.h>
#include <linux/kconfig.h>
#include <linux/kernel.h>
#include <linux/limits.h>
#include <linux/list.h>
#include <linux/rcupdate.h>
#include <linux/spinlock.h>
#include <linux/types.h>
#endif

#define BITS_PER_XA_VALUE (BITS_PER_LONG - 1)

/* Returns the entry for an integer of 0..LONG_MAX. */
static inline void *xa_mk_value(unsigned long v)
{
	WARN_ON((long)v < 0);
	return (void *)((v << 1) | 1);
}

static inline unsigned long xa_to_value(const void *entry) { return (unsigned long)entry >> 1; }
static inline bool xa_is_value(const void *entry) { return (unsigned long)entry & 1; }

/* Returns a pointer with a tag of 0, 1 or 3. */
static inline void *xa_tag_pointer(void *p, unsigned long tag) { return (void *)((unsigned long)p | tag); }
static inline void *xa_untag_pointer(void *entry) { return (void *)((unsigned long)entry & ~3UL); }
static inline unsigned int xa_pointer_tag(void *entry) { return (unsigned long)entry & 3UL; }
static inline void *xa_mk_internal(unsigned long v) { return (void *)((v << 2) | 2); }
static inline unsigned long xa_to_internal(const void *entry) { return (unsigned long)entry >> 2; }
static inline bool xa_is_internal(const void *entry) { return ((unsigned long)entry & 3) == 2; }

#define XA_RETRY_ENTRY xa_mk_internal(256)
#define XA_ZERO_ENTRY xa_mk_internal(257)

static inline bool xa_is_zero(const void *entry) { return unlikely(entry == XA_ZERO_ENTRY); }
static inline bool xa_is_retry(const void *entry) { return unlikely(entry == XA_RETRY_ENTRY); }

/* The two below are met in Linux, where nodes and the rest of a multi-index entry are entries too. */
static inline bool xa_is_node(const void *entry) { return xa_is_internal(entry) && (unsigned long)entry > 4096; }
static inline bool xa_is_sibling(const void *entry) { return xa_is_internal(entry) && entry < xa_mk_internal(63); }

/* Entries that only the array itself may store. */
static inline bool xa_is_advanced(const void *entry) { return xa_is_internal(entry) && entry <= XA_RETRY_ENTRY; }

static inline bool xa_is_err(const void *entry)
{
	return unlikely(xa_is_internal(entry) && entry >= xa_mk_internal(-MAX_ERRNO));
}

/* Returns the negative errno in an entry that is an error, else 0. */
static inline int xa_err(void *entry) { return xa_is_err(entry) ? (int)((long)entry >> 2) : 0; }

/* The ids that an allocation may return, both ends included. */
struct xa_limit {
	u32 max;
	u32 min;
};

#define XA_LIMIT(_min, _max) (struct xa_limit) { .min = _min, .max = _max }
#define xa_limit_32b XA_LIMIT(0, UINT_MAX)
#define xa_limit_31b XA_LIMIT(0, INT_MAX)
#define xa_limit_16b XA_LIMIT(0, USHRT_MAX)

typedef unsigned int xa_mark_t;
#define XA_MARK_0 ((xa_mark_t)0U)
#define XA_MARK_1 ((xa_mark_t)1U)
#define XA_MARK_2 ((xa_mark_t)2U)
#define XA_PRESENT ((xa_mark_t)8U)
#define XA_MARK_MAX XA_MARK_2
#define XA_FREE_MARK XA_MARK_0
#define XA_MAX_MARKS 3

#define XA_FLAGS_LOCK_IRQ ((gfp_t)1U)
#define XA_FLAGS_LOCK_BH ((gfp_t)2U)
#define XA_FLAGS_TRACK_FREE ((gfp_t)4U)
#define XA_FLAGS_ZERO_BUSY ((gfp_t)8U)
#define XA_FLAGS_ALLOC_WRAPPED ((gfp_t)16U)
#define XA_FLAGS_ACCOUNT ((gfp_t)32U)
#define XA_FLAGS_MARK(mark) ((gfp_t)((1U << __GFP_BITS_SHIFT) << (mark)))
#define XA_FLAGS_ALLOC (XA_FLAGS_TRACK_FREE | XA_FLAGS_MARK(XA_FREE_MARK))
#define XA_FLAGS_ALLOC1 (XA_FLAGS_TRACK_FREE | XA_FLAGS_ZERO_BUSY)

/* 64 indices are looked up in one node when they are densely used. */
#define XA_CHUNK_SHIFT 6
#define XA_CHUNK_SIZE (1UL << XA_CHUNK_SHIFT)
#define XA_CHUNK_MASK (XA_CHUNK_SIZE - 1)
#define XA_CHECK_SCHED 4096

struct xarray {
	spinlock_t xa_lock;
	/* private: */
	gfp_t xa_flags;
	void __rcu *xa_head;
};
_Static_assert(sizeof(struct xarray) == 16, "as large as the kernel's");

#define XARRAY_INIT(name, flags) {					\
	.xa_lock = __SPIN_LOCK_UNLOCKED(name.xa_lock),			\
	.xa_flags = flags,						\
	.xa_head = NULL,						\
}
#define DEFINE_XARRAY_FLAGS(name, flags) struct xarray name = XARRAY_INIT(name, flags)
#define DEFINE_XARRAY(name) DEFINE_XARRAY_FLAGS(name, 0)
#define DEFINE_XARRAY_ALLOC(name) DEFINE_XARRAY_FLAGS(name, XA_FLAGS_ALLOC)
#define DEFINE_XARRAY_ALLOC1(name) DEFINE_XARRAY_FLAGS(name, XA_FLAGS_ALLOC1)

static inline void xa_init_flags(struct xarray *xa, gfp_t flags)
{
	spin_lock_init(&xa->xa_lock);
	xa->xa_flags = flags;
	xa->xa_head = NULL;
}

static inline void xa_init(struct xarray *xa) { xa_init_flags(xa, 0); }

/* A reserved index counts as something. */
static inline bool xa_empty(const struct xarray *xa) { return READ_ONCE(xa->xa_head) == NULL; }

static inline bool xa_marked(const struct xarray *xa, xa_mark_t mark)
{
	return READ_ONCE(xa->xa_flags) & XA_FLAGS_MARK(mark);
}

#define xa_trylock(xa) spin_trylock(&(xa)->xa_lock)
#define xa_lock(xa) spin_lock(&(xa)->xa_lock)
#define xa_unlock(xa) spin_unlock(&(xa)->xa_lock)
#define xa_lock_bh(xa) spin_lock_bh(&(xa)->xa_lock)
#define xa_unlock_bh(xa) spin_unlock_bh(&(xa)->xa_lock)
#define xa_lock_irq(xa) spin_lock_irq(&(xa)->xa_lock)
#define xa_unlock_irq(xa) spin_unlock_irq(&(xa)->xa_lock)
#define xa_lock_irqsave(xa, flags) spin_lock_irqsave(&(xa)->xa_lock, flags)
#define xa_unlock_irqrestore(xa, flags) spin_unlock_irqrestore(&(xa)->xa_lock, flags)
#define xa_lock_nested(xa, subclass) spin_lock_nested(&(xa)->xa_lock, subclass)
#define xa_lock_bh_nested(xa, subclass) spin_lock_nested(&(xa)->xa_lock, subclass)
#define xa_lock_irq_nested(xa, subclass) spin_lock_nested(&(xa)->xa_lock, subclass)
#define xa_lock_irqsave_nested(xa, flags, subclass) spin_lock_irqsave_nested(&(xa)->xa_lock, flags, subclass)

/* The normal interface. These take the lock, or a read-side section, themselves. */
void *xa_load(struct xarray *xa, unsigned long index);
void *xa_store(struct xarray *xa, unsigned long index, void *entry, gfp_t gfp);
void *xa_erase(struct xarray *xa, unsigned long index);
void *xa_store_range(struct xarray *xa, unsigned long first, unsigned long last, void *entry, gfp_t gfp);
bool xa_get_mark(struct xarray *xa, unsigned long index, xa_mark_t mark);
void *xa_find(struct xarray *xa, unsigned long *index, unsigned long max, xa_mark_t filter);
void *xa_find_after(struct xarray *xa, unsigned long *index, unsigned long max, xa_mark_t filter);
unsigned int xa_extract(struct xarray *xa, void **dst, unsigned long start,
			unsigned long max, unsigned int n, xa_mark_t filter);
int xa_get_order(struct xarray *xa, unsigned long index);
void xa_destroy(struct xarray *xa);
size_t slablab_xa_bytes(struct xarray *xa);

/* For callers that hold the lock. */
void *__xa_store(struct xarray *xa, unsigned long index, void *entry, gfp_t gfp);
void *__xa_erase(struct xarray *xa, unsigned long index);
void *__xa_cmpxchg(struct xarray *xa, unsigned long index, void *old, void *entry, gfp_t gfp);
int __must_check __xa_insert(struct xarray *xa, unsigned long index, void *entry, gfp_t gfp);
int __must_check __xa_alloc(struct xarray *xa, u32 *id, void *entry, struct xa_limit limit, gfp_t gfp);
int __must_check __xa_alloc_cyclic(struct xarray *xa, u32 *id, void *entry,
				   struct xa_limit limit, u32 *next, gfp_t gfp);
void __xa_set_mark(struct xarray *xa, unsigned long index, xa_mark_t mark);
void __xa_clear_mark(struct xarray *xa, unsigned long index, xa_mark_t mark);

/* Tests only: lets every allocation that must not block fail. */
void slablab_xa_fail_nonblocking(int fail);

static inline void xa_set_mark(struct xarray *xa, unsigned long index, xa_mark_t mark)
{
	xa_lock(xa);
	__xa_set_mark(xa, index, mark);
	xa_unlock(xa);
}

static inline void xa_clear_mark(struct xarray *xa, unsigned long index, xa_mark_t mark)
{
	xa_lock(xa);
	__xa_clear_mark(xa, index, mark);
	xa_unlock(xa);
}

/*
 * Iteration in order of the index, which is left at the last entry visited. The body may change the array;
 * reserved indices are passed over.
 */
#define xa_for_each_range(xa, index, entry, start, last)		\
	for (index = start,						\
	     entry = xa_find(xa, &index, last, XA_PRESENT);		\
	     entry;							\
	     entry = xa_find_after(xa, &index, last, XA_PRESENT))
#define xa_for_each_start(xa, index, entry, start) xa_for_each_range(xa, index, entry, start, ULONG_MAX)
#define xa_for_each(xa, index, entry) xa_for_each_start(xa, index, entry, 0)
#define xa_for_each_marked(xa, index, entry, filter)			\
	for (index = 0, entry = xa_find(xa, &index, ULONG_MAX, filter);	\
	     entry; entry = xa_find_after(xa, &index, ULONG_MAX, filter))

/*
 * The functions that take the lock themselves: plain, with soft interrupts off (_bh), with interrupts off
 * (_irq). In user space they differ in name only. xa_store() and xa_erase() stand above.
 */
#define __XA_WITH_LOCK(lock, gfp, type, name, params, args)		\
	static inline type xa_##name##lock params			\
	{								\
		kapi_might_alloc("xa_" #name #lock, gfp);		\
		xa_lock##lock(xa);					\
		__auto_type ret = __xa_##name args;			\
		xa_unlock##lock(xa);					\
		return ret;						\
	}
#define __XA_BH_AND_IRQ(gfp, ...) __XA_WITH_LOCK(_bh, gfp, __VA_ARGS__) __XA_WITH_LOCK(_irq, gfp, __VA_ARGS__)
#define __XA_ALL_LOCKS(...) __XA_WITH_LOCK(, gfp, __VA_ARGS__) __XA_BH_AND_IRQ(gfp, __VA_ARGS__)

/* Stores an entry. Return: the old one, or an error entry. */
__XA_BH_AND_IRQ(gfp, void *, store, (struct xarray *xa, unsigned long index, void *entry, gfp_t gfp),
		(xa, index, entry, gfp))
/* Erases an entry; cannot fail. Return: the old one. */
__XA_BH_AND_IRQ(0, void *, erase, (struct xarray *xa, unsigned long index), (xa, index))
/* Stores an entry if the present one is @old. Return: the present one, or an error entry. */
__XA_ALL_LOCKS(void *, cmpxchg, (struct xarray *xa, unsigned long index, void *old, void *entry, gfp_t gfp),
	       (xa, index, old, entry, gfp))
/* Stores an entry where there is none. Return: 0, -EBUSY, -ENOMEM or -EINVAL. */
__XA_ALL_LOCKS(__must_check int, insert, (struct xarray *xa, unsigned long index, void *entry, gfp_t gfp),
	       (xa, index, entry, gfp))
/* Stores an entry at the lowest free id. Return: 0, -EBUSY, -ENOMEM or -EINVAL. */
__XA_ALL_LOCKS(__must_check int, alloc, (struct xarray *xa, u32 *id, void *entry, struct xa_limit limit, gfp_t gfp),
	       (xa, id, entry, limit, gfp))
/* Stores an entry at the first free id from *@next on. Return: 1 after coming around, 0, or -errno. */
__XA_ALL_LOCKS(int, alloc_cyclic,
	       (struct xarray *xa, u32 *id, void *entry, struct xa_limit limit, u32 *next, gfp_t gfp),
	       (xa, id, entry, limit, next, gfp))

/* Makes a later store at @index need no memory. Return: 0 or -ENOMEM. */
static inline __must_check int xa_reserve(struct xarray *xa, unsigned long index, gfp_t gfp)
{
	return xa_err(xa_cmpxchg(xa, index, NULL, XA_ZERO_ENTRY, gfp));
}

static inline __must_check int xa_reserve_bh(struct xarray *xa, unsigned long index, gfp_t gfp)
{
	return xa_err(xa_cmpxchg_bh(xa, index, NULL, XA_ZERO_ENTRY, gfp));
}

static inline __must_check int xa_reserve_irq(struct xarray *xa, unsigned long index, gfp_t gfp)
{
	return xa_err(xa_cmpxchg_irq(xa, index, NULL, XA_ZERO_ENTRY, gfp));
}

/* Takes a reservation back if nothing was stored; cannot fail. */
static inline void xa_release(struct xarray *xa, unsigned long index) { xa_cmpxchg(xa, index, XA_ZERO_ENTRY, NULL, 0); }

/*
 * The advanced interface: a cursor. Its user holds the lock to change the array, and the lock or a
 * read-side section to look at it.
 */

/* What a node looks like from outside: its shift. The other members are there for old code to compile. */
struct xa_node {
	unsigned char shift;
	unsigned char offset;
	unsigned char count;
	unsigned char nr_values;
	struct xarray *array;
	struct list_head private_list;
};

typedef void (*xa_update_node_t)(struct xa_node *node);

struct xa_state {
	struct xarray *xa;
	unsigned long xa_index;
	/* private: the layout is that of core/cursor.rs */
	unsigned long xa_last;
	struct xa_node *xa_node;
	u32 xa_gfp;
	u8 xa_order;
	u8 xa_found_order;
	u8 xa_has_retried;
	void *xa_split;
	xa_update_node_t xa_update;
};

#define XA_ERROR(errno) ((struct xa_node *)(((unsigned long)(errno) << 2) | 2UL))
#define XAS_BOUNDS ((struct xa_node *)1UL)
#define XAS_RESTART ((struct xa_node *)3UL)

#define __XA_STATE(array, index, order) {				\
	.xa = array,							\
	.xa_index = ((unsigned long)(index) >> (order)) << (order),	\
	.xa_last = ((unsigned long)(index) >> (order)) << (order),	\
	.xa_node = XAS_RESTART,						\
	.xa_gfp = GFP_NOWAIT,						\
	.xa_order = order,						\
}
#define XA_STATE(name, array, index) struct xa_state name = __XA_STATE(array, index, 0)
#define XA_STATE_ORDER(name, array, index, order) struct xa_state name = __XA_STATE(array, index, order)

#define xas_marked(xas, mark) xa_marked((xas)->xa, (mark))
#define xas_trylock(xas) xa_trylock((xas)->xa)
#define xas_lock(xas) xa_lock((xas)->xa)
#define xas_unlock(xas) xa_unlock((xas)->xa)
#define xas_lock_bh(xas) xa_lock_bh((xas)->xa)
#define xas_unlock_bh(xas) xa_unlock_bh((xas)->xa)
#define xas_lock_irq(xas) xa_lock_irq((xas)->xa)
#define xas_unlock_irq(xas) xa_unlock_irq((xas)->xa)
#define xas_lock_irqsave(xas, flags) xa_lock_irqsave((xas)->xa, flags)
#define xas_unlock_irqrestore(xas, flags) xa_unlock_irqrestore((xas)->xa, flags)

/* Returns the negative errno of a cursor that failed, else 0. */
static inline int xas_error(const struct xa_state *xas) { return xa_err(xas->xa_node); }

/* Makes every operation do nothing until the cursor is set again. */
static inline void xas_set_err(struct xa_state *xas, long err) { xas->xa_node = XA_ERROR(err); }

/* Returns whether the cursor failed, stands nowhere yet, or stands behind the end. */
static inline bool xas_invalid(const struct xa_state *xas) { return (unsigned long)xas->xa_node & 3; }
static inline bool xas_valid(const struct xa_state *xas) { return !xas_invalid(xas); }
static inline bool xas_is_node(const struct xa_state *xas) { return xas_valid(xas) && xas->xa_node; }
static inline void xas_reset(struct xa_state *xas) { xas->xa_node = XAS_RESTART; }

/* Returns whether an entry is one to pass over; after a retry entry the cursor starts again. */
static inline bool xas_retry(struct xa_state *xas, const void *entry)
{
	if (xa_is_zero(entry))
		return true;
	if (!xa_is_retry(entry))
		return false;
	xas_reset(xas);
	return true;
}

static inline void xas_set(struct xa_state *xas, unsigned long index)
{
	xas->xa_index = index;
	xas->xa_last = index;
	xas->xa_node = XAS_RESTART;
}

static inline void xas_set_order(struct xa_state *xas, unsigned long index, unsigned int order)
{
	xas_set(xas, (index >> order) << order);
	xas->xa_order = order;
}

/* Moves on inside the entry that the cursor stands on. */
static inline void xas_advance(struct xa_state *xas, unsigned long index)
{
	xas->xa_index = index;
	xas->xa_last = index;
}

static inline void xas_set_update(struct xa_state *xas, xa_update_node_t update) { xas->xa_update = update; }
static inline int xas_get_order(struct xa_state *xas) { return xas->xa_found_order; }

void *xas_load(struct xa_state *xas);
void *xas_reload(struct xa_state *xas);
void *xas_store(struct xa_state *xas, void *entry);
void *xas_find(struct xa_state *xas, unsigned long max);
void *xas_find_marked(struct xa_state *xas, unsigned long max, xa_mark_t mark);
void *xas_find_conflict(struct xa_state *xas);
void *xas_next(struct xa_state *xas);
void *xas_prev(struct xa_state *xas);
bool xas_get_mark(const struct xa_state *xas, xa_mark_t mark);
void xas_set_mark(const struct xa_state *xas, xa_mark_t mark);
void xas_clear_mark(const struct xa_state *xas, xa_mark_t mark);
void xas_init_marks(const struct xa_state *xas);
/* Returns whether to try again, after an operation that found no memory. */
bool xas_nomem(struct xa_state *xas, gfp_t gfp);
void xas_destroy(struct xa_state *xas);
void xas_pause(struct xa_state *xas);
void xas_create_range(struct xa_state *xas);
void xas_split_alloc(struct xa_state *xas, void *entry, unsigned int order, gfp_t gfp);
void xas_split(struct xa_state *xas, void *entry, unsigned int order);

static inline void *xas_next_entry(struct xa_state *xas, unsigned long max) { return xas_find(xas, max); }

static inline void *xas_next_marked(struct xa_state *xas, unsigned long max, xa_mark_t mark)
{
	return xas_find_marked(xas, max, mark);
}

#define xas_for_each(xas, entry, max) for (entry = xas_find(xas, max); entry; entry = xas_next_entry(xas, max))
#define xas_for_each_marked(xas, entry, max, mark)			\
	for (entry = xas_find_marked(xas, max, mark); entry;		\
	     entry = xas_next_marked(xas, max, mark))
#define xas_for_each_conflict(xas, entry) while ((entry = xas_find_conflict(xas)))

#ifndef XA_BUG_ON
#define XA_BUG_ON(xa, x) do { } while (0)
#define XA_NODE_BUG_ON(node, x) do { } while (0)
#endif

#endif
