/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * What Documentation/core-api/xarray.rst says, at the ends: of all indices, of all ids, of orders, and of what
 * may happen to an array while somebody walks over it.
 */
#include <linux/xarray.h>
#include "check.h"

static int object, other;

static unsigned long count(struct xarray *xa)
{
	unsigned long index, entries = 0;
	void *entry;

	xa_for_each(xa, index, entry)
		entries++;
	return entries;
}

static void *store_order(struct xarray *xa, unsigned long index, unsigned int order, void *entry)
{
	XA_STATE_ORDER(xas, xa, index, order);

	do {
		xas_lock(&xas);
		xas_store(&xas, entry);
		xas_unlock(&xas);
	} while (xas_nomem(&xas, GFP_KERNEL));
	return xas_error(&xas) ? ERR_PTR(xas_error(&xas)) : NULL;
}

static void check_ends(void)
{
	DEFINE_XARRAY(xa);
	unsigned long index = ULONG_MAX;

	CHECK(!xa_err(xa_store_range(&xa, 0, ULONG_MAX, &object, GFP_KERNEL)));
	CHECK(xa_load(&xa, 0) == &object && xa_load(&xa, 1UL << 40) == &object && xa_load(&xa, ULONG_MAX) == &object);
	CHECK(!xa_err(xa_store_range(&xa, 0, ULONG_MAX, NULL, GFP_KERNEL)) && xa_empty(&xa));

	CHECK(xa_store(&xa, ULONG_MAX, xa_mk_value(LONG_MAX), GFP_KERNEL) == NULL && count(&xa) == 1);
	CHECK(xa_find_after(&xa, &index, ULONG_MAX, XA_PRESENT) == NULL && index == ULONG_MAX);
	CHECK(xa_to_value(xa_erase(&xa, ULONG_MAX)) == LONG_MAX && xa_empty(&xa));

	CHECK(!store_order(&xa, 1UL << 63, 63, &object) && xa_get_order(&xa, ULONG_MAX) == 63);
	CHECK(xa_load(&xa, 1UL << 63) == &object && !xa_load(&xa, (1UL << 63) - 1));
	CHECK(xa_erase(&xa, ULONG_MAX - 5) == &object && xa_empty(&xa));
}

static void check_ids(void)
{
	DEFINE_XARRAY_ALLOC(ids);
	u32 id, next = UINT_MAX;

	CHECK(xa_alloc_cyclic(&ids, &id, &object, xa_limit_32b, &next, GFP_KERNEL) == 0 && id == UINT_MAX);
	CHECK(xa_alloc_cyclic(&ids, &id, &object, xa_limit_32b, &next, GFP_KERNEL) == 1 && id == 0 && next == 1);
	CHECK(xa_alloc(&ids, &id, &object, XA_LIMIT(UINT_MAX, UINT_MAX), GFP_KERNEL) == -EBUSY && id == 0);
	/* NULL reserves: by allocating, and by storing. */
	CHECK(xa_alloc(&ids, &id, NULL, xa_limit_31b, GFP_KERNEL) == 0 && id == 1 && !xa_load(&ids, 1));
	CHECK(xa_alloc(&ids, &id, &object, xa_limit_31b, GFP_KERNEL) == 0 && id == 2);
	xa_release(&ids, 1);
	CHECK(xa_alloc(&ids, &id, &object, xa_limit_31b, GFP_KERNEL) == 0 && id == 1);
	CHECK(xa_store(&ids, 2, NULL, GFP_KERNEL) == &object && !xa_load(&ids, 2));
	CHECK(xa_alloc(&ids, &id, &object, xa_limit_31b, GFP_KERNEL) == 0 && id == 3);
	xa_destroy(&ids);
	CHECK(xa_alloc(&ids, &id, &object, xa_limit_31b, GFP_KERNEL) == 0 && id == 0);
	xa_destroy(&ids);
}

static void check_marks(void)
{
	DEFINE_XARRAY(xa);
	unsigned long index;

	for (index = 0; index < 200; index += 100) {
		xa_set_mark(&xa, index, XA_MARK_0);
		CHECK(!xa_marked(&xa, XA_MARK_0));
		CHECK(!xa_store(&xa, index, &object, GFP_KERNEL) && !xa_get_mark(&xa, index, XA_MARK_0));
		xa_set_mark(&xa, index, XA_MARK_0);
		CHECK(xa_store(&xa, index, &other, GFP_KERNEL) == &object && xa_get_mark(&xa, index, XA_MARK_0));
		CHECK(xa_store(&xa, index, NULL, 0) == &other && !xa_marked(&xa, XA_MARK_0));
	}
	CHECK(!xa_get_mark(&xa, 0, 5));
}

static void check_cursors(void)
{
	DEFINE_XARRAY(xa);
	XA_STATE(xas, &xa, 5);
	unsigned long index, pauses = 0;
	void *entry;

	CHECK(!xa_store(&xa, 5, &object, GFP_KERNEL) && !xa_store(&xa, 700, &other, GFP_KERNEL));
	xas_set_err(&xas, -EIO);
	CHECK(!xas_load(&xas) && !xas_nomem(&xas, GFP_KERNEL) && xas_error(&xas) == -EIO);
	xas_reset(&xas);
	CHECK(xas_load(&xas) == &object && xas_reload(&xas) == &object);

	xas_set_order(&xas, 512, 9);
	xas_lock(&xas);
	xas_for_each_conflict(&xas, entry)
		CHECK(entry == &other);
	xas_unlock(&xas);
	do {
		xas_lock(&xas);
		xas_create_range(&xas);
		xas_unlock(&xas);
	} while (xas_nomem(&xas, GFP_KERNEL));
	slablab_xa_fail_nonblocking(1);
	for (index = 512; index < 1024; index++)
		CHECK(!xa_is_err(xa_store(&xa, index, &object, GFP_NOWAIT)));
	slablab_xa_fail_nonblocking(0);

	xas_set_order(&xas, 0, 0);
	rcu_read_lock();
	xas_for_each(&xas, entry, ULONG_MAX) {
		CHECK(!xas_retry(&xas, entry));
		xas_pause(&xas);
		rcu_read_unlock();
		pauses++;
		rcu_read_lock();
	}
	rcu_read_unlock();
	CHECK(pauses == 513);
	xa_destroy(&xa);
}

static void check_splits(void)
{
	DEFINE_XARRAY(xa);
	XA_STATE_ORDER(xas, &xa, 64, 3);

	CHECK(!store_order(&xa, 64, 6, &object) && xa_get_order(&xa, 100) == 6);
	xas_split_alloc(&xas, &object, 6, GFP_KERNEL);
	CHECK(!xas_error(&xas));
	xas_lock(&xas);
	xas_split(&xas, &object, 6);
	xas_unlock(&xas);
	CHECK(xa_get_order(&xa, 100) == 3 && count(&xa) == 8 && xa_load(&xa, 127) == &object);
	/* More than one level of nodes at once. */
	xas_set_order(&xas, 0, 0);
	xas_split_alloc(&xas, &object, 20, GFP_KERNEL);
	CHECK(xas_error(&xas) == -ENOMEM);
	xas_destroy(&xas);
	xa_destroy(&xa);
}

/* The body of a loop may erase what it sees, and store ahead of it. */
static void check_changes_in_loops(void)
{
	DEFINE_XARRAY(xa);
	unsigned long index, seen = 0;
	void *entry;

	for (index = 0; index < 5000; index++)
		CHECK(!xa_err(xa_store(&xa, index * 3, xa_mk_value(index), GFP_KERNEL)));
	xa_for_each(&xa, index, entry) {
		CHECK(xa_erase(&xa, index) == entry && entry == xa_mk_value(index / 3));
		seen++;
	}
	CHECK(seen == 5000 && xa_empty(&xa));
	CHECK(!xa_err(xa_store(&xa, 0, &object, GFP_KERNEL)));
	xa_for_each(&xa, index, entry)
		if (index < 100000)
			CHECK(!xa_err(xa_store(&xa, index + 640, &object, GFP_KERNEL)));
	CHECK(count(&xa) == 158);
	xa_destroy(&xa);
	CHECK(slablab_xa_bytes(&xa) == 0);
}

static void check_one_hold(void)
{
	DEFINE_XARRAY(xa);

	xa_lock(&xa);
	CHECK(__xa_insert(&xa, 1, &object, GFP_ATOMIC) == 0 && __xa_insert(&xa, 1, &object, GFP_ATOMIC) == -EBUSY);
	__xa_set_mark(&xa, 1, XA_MARK_1);
	CHECK(__xa_cmpxchg(&xa, 1, &object, &other, GFP_ATOMIC) == &object && !xa_trylock(&xa));
	CHECK(__xa_erase(&xa, 1) == &other);
	xa_unlock(&xa);
	CHECK(xa_trylock(&xa));
	xa_unlock(&xa);
	CHECK(xa_empty(&xa) && !xa_marked(&xa, XA_MARK_1));
}

int main(void)
{
	check_ends();
	check_ids();
	check_marks();
	check_cursors();
	check_splits();
	check_changes_in_loops();
	check_one_hold();
	printf("documented: %s\n", failed ? "FAILED" : "as the documentation says");
	return failed != 0;
}
