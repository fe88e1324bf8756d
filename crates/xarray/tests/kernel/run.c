/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Runs Linux's own lib/test_xarray.c, unmodified, on our array: all check functions but those that look
 * inside nodes (LEFT-OUT.md). The file is included, so its static functions can be called from here.
 */
#include "internals.h"

int printf(const char *fmt, ...);

#ifndef __KERNEL__
void xa_dump(const struct xarray *xa)
{
	printf("array at %p: head %p\n", (void *)xa, xa->xa_head);
}
#endif

#include TEST_XARRAY

#define RUN(...) do { printf("%s\n", #__VA_ARGS__); __VA_ARGS__; } while (0)

int main(void)
{
	int i;

#ifndef __KERNEL__
	slablab_xa_fail_nonblocking(1);
#endif
	RUN(check_xa_err(&array));
	RUN(check_xa_load(&array));
	RUN(check_xa_mark(&array));
	RUN(check_xas_erase(&array));
	RUN(check_insert(&array));
	RUN(check_cmpxchg(&array));
	RUN(check_reserve(&array));
	RUN(check_reserve(&xa0));
	/* In check_multi_store, beside six looks into nodes. */
	printf("check_multi_store_1, _2, _3\n");
	for (i = 0; i < 20; i++) {
		check_multi_store_1(&array, 200, i);
		check_multi_store_1(&array, 0, i);
		check_multi_store_1(&array, (1UL << i) + 1, i);
	}
	for (i = 1; i < 20; i++) {
		check_multi_store_3(&array, 0, i);
		check_multi_store_3(&array, 1UL << i, i);
	}
	check_multi_store_2(&array, 4095, 9);
	RUN(check_get_order(&array));
	RUN(check_xas_get_order(&array));
	RUN(check_xas_conflict_get_order(&array));
	RUN(check_xa_alloc());
	RUN(check_find(&array));
	RUN(check_find_entry(&array));
	RUN(check_pause(&array));
	RUN(check_destroy(&array));
	RUN(check_move(&array));
	RUN(check_create_range(&array));
	RUN(check_store_range(&array));
	RUN(check_store_iter(&array));
	RUN(check_align(&xa0));
	RUN(check_split(&array));

	rcu_barrier();
	printf("XArray: %u of %u tests passed\n", tests_passed, tests_run);
	return tests_passed == tests_run ? 0 : 1;
}
