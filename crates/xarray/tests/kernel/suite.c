/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Runs one program of tools/testing/radix-tree by name: suite NAME. What runs and what does not: LEFT-OUT.md. */
#include "harness.h"
#include <linux/idr.h>
#include <linux/radix-tree.h>

int strcmp(const char *a, const char *b);
long clock_gettime(int clock, long *time);

void multiorder_checks(void);
void iteration_test(unsigned int order, unsigned int seconds);
void iteration_test2(unsigned int seconds);
void regression1_test(void);
void regression2_test(void);
void regression3_test(void);
void regression4_test(void);
void idr_checks(void);
void ida_tests(void);
void tag_check(void);
void gang_check(void);
void big_gang_check(bool long_run);
void add_and_check(void);
void dynamic_height_check(void);
void copy_tag_check(void);

int test_verbose = 1, nr_allocated, preempt_count;

time_t harness_time(void)
{
	long now[2];

	clock_gettime(0, now);
	return now[0] * 10 + now[1] / 100000000;
}

void harness_assert(const char *file, int line, const char *what)
{
	printf("%s:%d: not so: %s\n", file, line, what);
	abort();
}

/* Linux's preallocated nodes, which we have none of. */
int radix_tree_cpu_dead(unsigned int cpu)
{
	return 0;
}

/*
 * In the place of two helpers of test.c that look inside nodes: the same promise, asked of the interface;
 * and nothing, since our array has no height.
 */
void verify_tag_consistency(struct radix_tree_root *root, unsigned int tag)
{
	unsigned long index = 0;

	assert(xa_marked(root, tag) == !!xa_find(root, &index, ULONG_MAX, tag));
}

void tree_verify_min_height(struct radix_tree_root *root, int maxindex)
{
}

/* Linux's versions of those two call these, and its main() these; they are compiled and not run. */
void benchmark(void)
{
	abort();
}

void xarray_tests(void)
{
	abort();
}

struct radix_tree_node *entry_to_node(void *entry)
{
	abort();
}

int root_tag_get(struct radix_tree_root *root, unsigned int tag)
{
	abort();
}

unsigned long node_maxindex(struct radix_tree_node *node)
{
	abort();
}

unsigned long shift_maxindex(unsigned int shift)
{
	abort();
}

void ida_dump(struct ida *ida)
{
}

/* Two seconds each instead of the ten of Linux's own runner. */
static void iteration_checks(void)
{
	iteration_test(0, 2);
	iteration_test(7, 2);
}

static void iteration_2_checks(void)
{
	iteration_test2(2);
}

/* Linux's user-space allocator fails whatever must not block. */
static void ida_checks(void)
{
	slablab_xa_fail_nonblocking(1);
	ida_tests();
}

static void main_checks(void)
{
	int i;

	gang_check();
	add_and_check();
	dynamic_height_check();
	big_gang_check(false);
	for (i = 0; i < 3; i++)
		copy_tag_check();
}

static const struct {
	const char *name;
	void (*run)(void);
} programs[] = {
	{ "multiorder", multiorder_checks },
	{ "iteration_check", iteration_checks },
	{ "iteration_check_2", iteration_2_checks },
	{ "regression1", regression1_test },
	{ "regression2", regression2_test },
	{ "regression3", regression3_test },
	{ "regression4", regression4_test },
	{ "idr-test", idr_checks },
	{ "test_ida", ida_checks },
	{ "tag_check", tag_check },
	{ "main", main_checks },
};

int main(int argc, char **argv)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(programs); i++) {
		if (argc < 2 || strcmp(argv[1], programs[i].name))
			continue;
		programs[i].run();
		rcu_barrier();
		return 0;
	}
	printf("suite: no program of this name\n");
	return 2;
}
