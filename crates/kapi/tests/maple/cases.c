// SPDX-License-Identifier: MIT OR Apache-2.0
// Runs cases of tools/testing/radix-tree/maple.c: that file, without the functions that cases.sh cuts out of it.
#include "cases.h"
#include MAPLE_C

#define TREE(flags, name, ...) do {					\
	long before = atomic_read(&maple_tree_tests_run);		\
	mt_init_flags(&tree, flags);					\
	name(__VA_ARGS__);						\
	mtree_destroy(&tree);						\
	host_free_later();						\
	printf("%s: %ld\n", #name, atomic_read(&maple_tree_tests_run) - before); \
} while (0)

int tree_main(int argc, char **argv)
{
	static DEFINE_MTREE(tree);

	TREE(MT_FLAGS_ALLOC_RANGE | MT_FLAGS_LOCK_EXTERN | MT_FLAGS_USE_RCU, check_vma_modification, &tree);
	TREE(MT_FLAGS_ALLOC_RANGE, check_locky, &tree);
	TREE(MT_FLAGS_ALLOC_RANGE | MT_FLAGS_USE_RCU, check_nomem_writer_race, &tree);
	TREE(MT_FLAGS_ALLOC_RANGE, check_spanning_write, &tree);
#ifdef HAS_HEIGHT
	TREE(MT_FLAGS_ALLOC_RANGE, check_spanning_store_height, &tree);
	TREE(MT_FLAGS_ALLOC_RANGE, check_collapsing_rebalance, &tree);
#endif
	TREE(MT_FLAGS_ALLOC_RANGE, check_null_expand, &tree);
	TREE(0, check_mtree_dup, &tree);
	TREE(0, check_erase_testset, &tree);
	TREE(0, check_erase2_sets, &tree);
	TREE(0, check_nomem, &tree);
	host_set_non_kernel(1 << 30);
	maple_tree_seed();
	TREE(MT_FLAGS_ALLOC_RANGE, check_rcu_simulated, &tree);
	/* Its readers are to see changes in time, which a machine that is busy with others may not give them. */
	if (argc > 1)
		TREE(MT_FLAGS_ALLOC_RANGE, check_rcu_threaded, &tree);
	printf("maple cases: %d of %d, nodes left %ld\n", atomic_read(&maple_tree_tests_passed),
	       atomic_read(&maple_tree_tests_run), host_nodes);
	return host_nodes || atomic_read(&maple_tree_tests_passed) != atomic_read(&maple_tree_tests_run);
}
