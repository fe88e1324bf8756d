// SPDX-License-Identifier: MIT OR Apache-2.0
// A KUnit suite: a case that holds, one that fails an expectation, one that an assertion ends.
#include <kunit/test.h>
#include <linux/slab.h>

static int bad;
module_param(bad, int, 0);

static void sizes(struct kunit *test)
{
	void *block = kunit_kzalloc(test, 24, GFP_KERNEL);

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, block);
	KUNIT_EXPECT_EQ(test, kmalloc_size_roundup(24), (size_t)32);
}

static void expectation(struct kunit *test)
{
	KUNIT_EXPECT_EQ_MSG(test, bad, 0, "bad is %d", bad);
	KUNIT_EXPECT_STREQ(test, "a", "a");
}

static void assertion(struct kunit *test)
{
	int *counter = kunit_kmalloc(test, sizeof(int), GFP_KERNEL);

	*counter = bad;
	KUNIT_ASSERT_FALSE(test, *counter);
	KUNIT_EXPECT_LT(test, *counter, 1);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(sizes),
	KUNIT_CASE(expectation),
	KUNIT_CASE(assertion),
	{}
};

static struct kunit_suite suite = { .name = "demo", .test_cases = cases };
kunit_test_suite(suite);
MODULE_LICENSE("Dual MIT/GPL");
