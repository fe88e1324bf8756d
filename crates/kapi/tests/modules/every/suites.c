/* Every macro of test suites: expectations and assertions, plain and with a message. */
#include <kunit/test.h>

static int zero, one = 1;

static void every_expectation(struct kunit *test)
{
	int *at = &one, *null = NULL;
	char text[4] = "abc";

	KUNIT_EXPECT_TRUE(test, one == 1);
	KUNIT_EXPECT_TRUE_MSG(test, one == 1, "of %d", one);
	KUNIT_EXPECT_FALSE(test, one == 0);
	KUNIT_EXPECT_FALSE_MSG(test, one == 0, "of %d", one);
	KUNIT_EXPECT_NULL(test, null);
	KUNIT_EXPECT_NULL_MSG(test, null, "of %d", one);
	KUNIT_EXPECT_NOT_NULL(test, at);
	KUNIT_EXPECT_NOT_NULL_MSG(test, at, "of %d", one);
	KUNIT_EXPECT_NOT_ERR_OR_NULL(test, at);
	KUNIT_EXPECT_NOT_ERR_OR_NULL_MSG(test, at, "of %d", one);
	KUNIT_EXPECT_EQ(test, one, 1);
	KUNIT_EXPECT_EQ_MSG(test, one, 1, "of %d", one);
	KUNIT_EXPECT_NE(test, one, zero);
	KUNIT_EXPECT_NE_MSG(test, one, zero, "of %d", one);
	KUNIT_EXPECT_LT(test, zero, one);
	KUNIT_EXPECT_LT_MSG(test, zero, one, "of %d", one);
	KUNIT_EXPECT_LE(test, one, 1);
	KUNIT_EXPECT_LE_MSG(test, one, 1, "of %d", one);
	KUNIT_EXPECT_GT(test, one, zero);
	KUNIT_EXPECT_GT_MSG(test, one, zero, "of %d", one);
	KUNIT_EXPECT_GE(test, one, 1);
	KUNIT_EXPECT_GE_MSG(test, one, 1, "of %d", one);
	KUNIT_EXPECT_PTR_EQ(test, at, &one);
	KUNIT_EXPECT_PTR_EQ_MSG(test, at, &one, "of %d", one);
	KUNIT_EXPECT_PTR_NE(test, at, &zero);
	KUNIT_EXPECT_PTR_NE_MSG(test, at, &zero, "of %d", one);
	KUNIT_EXPECT_STREQ(test, text, "abc");
	KUNIT_EXPECT_STREQ_MSG(test, text, "abc", "of %d", one);
	KUNIT_EXPECT_STRNEQ(test, text, "abd");
	KUNIT_EXPECT_STRNEQ_MSG(test, text, "abd", "of %d", one);
	KUNIT_EXPECT_MEMEQ(test, text, "abc", 3);
	KUNIT_EXPECT_MEMEQ_MSG(test, text, "abc", 3, "of %d", one);
}

static void every_assertion(struct kunit *test)
{
	int *at = &one, *null = NULL;
	char text[4] = "abc";

	KUNIT_ASSERT_TRUE(test, one == 1);
	KUNIT_ASSERT_TRUE_MSG(test, one == 1, "of %d", one);
	KUNIT_ASSERT_FALSE(test, one == 0);
	KUNIT_ASSERT_FALSE_MSG(test, one == 0, "of %d", one);
	KUNIT_ASSERT_NULL(test, null);
	KUNIT_ASSERT_NULL_MSG(test, null, "of %d", one);
	KUNIT_ASSERT_NOT_NULL(test, at);
	KUNIT_ASSERT_NOT_NULL_MSG(test, at, "of %d", one);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, at);
	KUNIT_ASSERT_NOT_ERR_OR_NULL_MSG(test, at, "of %d", one);
	KUNIT_ASSERT_EQ(test, one, 1);
	KUNIT_ASSERT_EQ_MSG(test, one, 1, "of %d", one);
	KUNIT_ASSERT_NE(test, one, zero);
	KUNIT_ASSERT_NE_MSG(test, one, zero, "of %d", one);
	KUNIT_ASSERT_LT(test, zero, one);
	KUNIT_ASSERT_LT_MSG(test, zero, one, "of %d", one);
	KUNIT_ASSERT_LE(test, one, 1);
	KUNIT_ASSERT_LE_MSG(test, one, 1, "of %d", one);
	KUNIT_ASSERT_GT(test, one, zero);
	KUNIT_ASSERT_GT_MSG(test, one, zero, "of %d", one);
	KUNIT_ASSERT_GE(test, one, 1);
	KUNIT_ASSERT_GE_MSG(test, one, 1, "of %d", one);
	KUNIT_ASSERT_PTR_EQ(test, at, &one);
	KUNIT_ASSERT_PTR_EQ_MSG(test, at, &one, "of %d", one);
	KUNIT_ASSERT_PTR_NE(test, at, &zero);
	KUNIT_ASSERT_PTR_NE_MSG(test, at, &zero, "of %d", one);
	KUNIT_ASSERT_STREQ(test, text, "abc");
	KUNIT_ASSERT_STREQ_MSG(test, text, "abc", "of %d", one);
	KUNIT_ASSERT_STRNEQ(test, text, "abd");
	KUNIT_ASSERT_STRNEQ_MSG(test, text, "abd", "of %d", one);
	KUNIT_ASSERT_MEMEQ(test, text, "abc", 3);
	KUNIT_ASSERT_MEMEQ_MSG(test, text, "abc", 3, "of %d", one);
}

static void every_call(struct kunit *test)
{
	kunit_kmalloc(test, 5, GFP_KERNEL);
	kunit_kzalloc(test, 5, GFP_KERNEL);
	kunit_kcalloc(test, 5, 5, GFP_KERNEL);
	kunit_info(test, "info %d", 1);
	kunit_warn(test, "warning %d", 1);
	kunit_err(test, "error %d", 1);
	kunit_log(KERN_INFO, test, "log %d", 1);
	KUNIT_SUCCEED(test);
	if (zero)
		KUNIT_FAIL(test, "zero is %d", zero);
	if (zero)
		kunit_mark_skipped(test, "goes on");
	kunit_skip(test, "ends here");
}

static const int values[] = { 1, 2 };

static void describe(const int *value, char *text)
{
	snprintf(text, KUNIT_PARAM_DESC_SIZE, "%d", *value);
}
KUNIT_ARRAY_PARAM(every, values, describe);

static const struct {
	int value;
	const char *name;
} named[] = { { 1, "one" }, { 2, "two" } };
KUNIT_ARRAY_PARAM_DESC(every_named, named, name);

static void every_value(struct kunit *test)
{
	KUNIT_EXPECT_GT(test, *(const int *)test->param_value, 0);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(every_expectation),
	KUNIT_CASE_SLOW(every_assertion),
	KUNIT_CASE(every_call),
	KUNIT_CASE_PARAM(every_value, every_gen_params),
	KUNIT_CASE_PARAM(every_value, every_named_gen_params),
	{}
};
static struct kunit_suite suite = { .name = "every", .test_cases = cases };
kunit_test_suite(suite);
MODULE_LICENSE("GPL");
