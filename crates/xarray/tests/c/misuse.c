/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * What must be refused, as C sees it: errors by number and as entries, arrays as they were. And what cannot
 * fail: erasing, marking, releasing and overwriting while every node allocation fails.
 */
#include <linux/err.h>
#include <linux/kernel.h>
#include <linux/xarray.h>
#include "check.h"

/* Stores by every function that stores; all are to return @error. */
static void check_stores(struct xarray *xa, void *entry, gfp_t gfp, int error)
{
	XA_STATE(xas, xa, 5000);

	CHECK(xa_err(xa_store(xa, 5000, entry, gfp)) == error);
	CHECK(xa_err(xa_store_bh(xa, 5000, entry, gfp)) == error);
	CHECK(xa_err(xa_store_irq(xa, 5000, entry, gfp)) == error);
	CHECK(xa_insert(xa, 5001, entry, gfp) == error);
	CHECK(xa_insert_bh(xa, 5001, entry, gfp) == error);
	CHECK(xa_insert_irq(xa, 5001, entry, gfp) == error);
	CHECK(xa_err(xa_cmpxchg(xa, 5002, NULL, entry, gfp)) == error);
	CHECK(xa_err(xa_cmpxchg_bh(xa, 5002, NULL, entry, gfp)) == error);
	CHECK(xa_err(xa_cmpxchg_irq(xa, 5002, NULL, entry, gfp)) == error);
	CHECK(xa_err(xa_store_range(xa, 6000, 9000, entry, gfp)) == error);

	xas_lock(&xas);
	xas_store(&xas, entry);
	xas_unlock(&xas);
	/* A cursor's first try must not block, whatever the others may. */
	CHECK(xas_error(&xas) == error);
	CHECK(xas_load(&xas) == NULL);
	CHECK(xa_load(xa, 5000) == NULL && xa_load(xa, 6000) == NULL);
}

/* Allocates ids by every function; all are to return @error. */
static void check_allocs(struct xarray *xa, void *entry, struct xa_limit limit, gfp_t gfp, int error)
{
	u32 id = 77, next = limit.min;

	CHECK(xa_alloc(xa, &id, entry, limit, gfp) == error);
	CHECK(xa_alloc_bh(xa, &id, entry, limit, gfp) == error);
	CHECK(xa_alloc_irq(xa, &id, entry, limit, gfp) == error);
	CHECK(xa_alloc_cyclic(xa, &id, entry, limit, &next, gfp) == error);
	CHECK(xa_alloc_cyclic_bh(xa, &id, entry, limit, &next, gfp) == error);
	CHECK(xa_alloc_cyclic_irq(xa, &id, entry, limit, &next, gfp) == error);
	CHECK(next == limit.min);
	CHECK(error == -ENOMEM || id == 77);
}

static void check_entries(void)
{
	DEFINE_XARRAY(xa);
	DEFINE_XARRAY_ALLOC(ids);
	unsigned long i;

	CHECK(xa_store(&xa, 1, xa_mk_value(1), GFP_KERNEL) == NULL);
	for (i = 0; i <= 256; i++) {
		check_stores(&xa, xa_mk_internal(i), GFP_KERNEL, -EINVAL);
		check_allocs(&ids, xa_mk_internal(i), xa_limit_32b, GFP_KERNEL, -EINVAL);
	}
	/* Of error pointers the odd ones are integers at the same time. */
	for (i = 2; i < MAX_ERRNO; i += 2) {
		check_stores(&xa, ERR_PTR(-(long)i), GFP_KERNEL, -EINVAL);
		check_allocs(&ids, ERR_PTR(-(long)i), xa_limit_32b, GFP_KERNEL, -EINVAL);
		check_stores(&xa, XA_ERROR(-(long)i), GFP_KERNEL, -EINVAL);
	}
	CHECK(xa_load(&xa, 1) == xa_mk_value(1));
	CHECK(xa_empty(&ids));
	xa_destroy(&xa);
}

static void check_ranges(void)
{
	DEFINE_XARRAY(xa);

	CHECK(xa_err(xa_store_range(&xa, 2, 1, &xa, GFP_KERNEL)) == -EINVAL);
	CHECK(xa_err(xa_store_range(&xa, ULONG_MAX, 0, NULL, GFP_KERNEL)) == -EINVAL);
	CHECK(xa_err(xa_store_range(&xa, 1, 2, XA_ZERO_ENTRY, GFP_KERNEL)) == -EINVAL);
	CHECK(xa_empty(&xa));
}

static void check_ids(void)
{
	DEFINE_XARRAY(plain);
	DEFINE_XARRAY_ALLOC(ids);
	DEFINE_XARRAY_ALLOC1(from_one);
	u32 id, i;

	for (i = 3; i <= 5; i++)
		CHECK(xa_alloc(&ids, &id, &ids, XA_LIMIT(3, 5), GFP_KERNEL) == 0 && id == i);
	check_allocs(&ids, &ids, XA_LIMIT(3, 5), GFP_KERNEL, -EBUSY);
	check_allocs(&ids, &ids, XA_LIMIT(9, 8), GFP_KERNEL, -EBUSY);
	check_allocs(&from_one, &ids, XA_LIMIT(0, 0), GFP_KERNEL, -EBUSY);
	check_allocs(&plain, &ids, xa_limit_32b, GFP_KERNEL, -EINVAL);
	CHECK(xa_insert(&ids, 4, &ids, GFP_KERNEL) == -EBUSY);
	CHECK(xa_reserve(&plain, 4, GFP_KERNEL) == 0);
	CHECK(xa_insert(&plain, 4, &ids, GFP_KERNEL) == -EBUSY);
	xa_destroy(&ids);
	xa_destroy(&plain);
}

/* From here on, no allocation that must not block succeeds. */
static void check_memory(void)
{
	DEFINE_XARRAY(xa);
	DEFINE_XARRAY_ALLOC(ids);
	unsigned long i;

	for (i = 0; i < 300; i++)
		CHECK(xa_store(&xa, i * 7, xa_mk_value(i), GFP_KERNEL) == NULL);
	for (i = 3000; i < 3100; i++)
		CHECK(xa_reserve(&xa, i, GFP_KERNEL) == 0);

	slablab_xa_fail_nonblocking(1);
	check_stores(&xa, &xa, GFP_NOWAIT, -ENOMEM);
	check_allocs(&ids, &ids, xa_limit_32b, GFP_NOWAIT, -ENOMEM);
	CHECK(xa_reserve(&xa, 5000, GFP_NOWAIT) == -ENOMEM);
	CHECK(xa_empty(&ids));

	for (i = 0; i < 300; i++) {
		CHECK(xa_store(&xa, i * 7, xa_mk_value(i + 1), 0) == xa_mk_value(i));
		CHECK(xa_cmpxchg(&xa, i * 7, xa_mk_value(i + 1), &xa, 0) == xa_mk_value(i + 1));
		xa_set_mark(&xa, i * 7, XA_MARK_2);
		CHECK(xa_get_mark(&xa, i * 7, XA_MARK_2));
		xa_clear_mark(&xa, i * 7, XA_MARK_2);
		CHECK(!xa_get_mark(&xa, i * 7, XA_MARK_2));
	}
	for (i = 3000; i < 3100; i += 2) {
		CHECK(xa_store(&xa, i, &xa, 0) == NULL && xa_load(&xa, i) == &xa);
		xa_release(&xa, i);
		xa_release(&xa, i + 1);
		CHECK(xa_load(&xa, i) == &xa);
		CHECK(xa_erase(&xa, i) == &xa);
	}
	for (i = 0; i < 300; i++)
		CHECK(xa_erase(&xa, i * 7) == &xa);
	CHECK(xa_empty(&xa));
	CHECK(slablab_xa_bytes(&xa) == 0);
	slablab_xa_fail_nonblocking(0);
}

int main(void)
{
	check_entries();
	check_ranges();
	check_ids();
	check_memory();
	printf("misuse: %s\n", failed ? "FAILED" : "all refused, nothing lost");
	return failed != 0;
}
