/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* KUnit: test suites as modules. Cases run when the module is loaded; their results go to the log as KTAP.
 *
 * Difference: loading a suite of which a case failed fails (-EIO), so that the exit status tells. */
#ifndef _KUNIT_TEST_H
#define _KUNIT_TEST_H

#include <linux/err.h>
#include <linux/init.h>
#include <linux/kernel.h>
#include <linux/list.h>
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/string.h>

struct file;
struct kunit;

struct kunit_case {
	void (*run_case)(struct kunit *test);
	const char *name;
	const void *(*generate_params)(const void *prev, char *desc);
};

#define KUNIT_PARAM_DESC_SIZE 128
#define KUNIT_CASE(test) { .run_case = test, .name = #test }
#define KUNIT_CASE_PARAM(test, generate) { .run_case = test, .name = #test, .generate_params = generate }
#define KUNIT_CASE_SLOW(test) KUNIT_CASE(test)
#define KUNIT_ARRAY_PARAM(_name, array, get_desc) \
	static const void *_name##_gen_params(const void *prev, char *desc) \
	{ \
		typeof((array)[0]) *kapi_next = prev ? ((typeof(kapi_next))prev) + 1 : (array); \
		void (*kapi_describe)(typeof(kapi_next), char *) = get_desc; \
		if (kapi_next - (array) >= (long)ARRAY_SIZE(array)) \
			return NULL; \
		if (kapi_describe) \
			kapi_describe(kapi_next, desc); \
		return kapi_next; \
	}

/* With the name of each in a field of it. */
#define KUNIT_ARRAY_PARAM_DESC(_name, array, field) \
	static const void *_name##_gen_params(const void *prev, char *desc) \
	{ \
		typeof((array)[0]) *kapi_next = prev ? ((typeof(kapi_next))prev) + 1 : (array); \
		if (kapi_next - (array) >= (long)ARRAY_SIZE(array)) \
			return NULL; \
		strscpy(desc, kapi_next->field, KUNIT_PARAM_DESC_SIZE); \
		return kapi_next; \
	}

struct kunit_suite {
	const char name[256];
	int (*suite_init)(struct kunit_suite *suite);
	void (*suite_exit)(struct kunit_suite *suite);
	int (*init)(struct kunit *test);
	void (*exit)(struct kunit *test);
	struct kunit_case *test_cases;
};

enum kunit_status {
	KUNIT_SUCCESS,
	KUNIT_FAILURE,
	KUNIT_SKIPPED
};

struct kunit {
	void *priv;
	const char *name;
	const void *param_value;
	int param_index;
	enum kunit_status status;
	/* Where a failed assertion ends the case. */
	void *kapi_end[5];
	struct list_head kapi_blocks;
	struct list_head kapi_actions;
	/* Functions that are replaced. */
	struct list_head kapi_stubs;
	struct list_head kapi_resources;
};

/* @found: the two values that were compared, or NULL. */
extern void kapi_kunit_fail(struct kunit *test, bool stop, const char *file, int line, const char *expected,
			    const long long *found, const char *fmt, ...);
extern void kapi_kunit_skip(struct kunit *test, bool stop, const char *fmt, ...);
/* Called when the case is over, the last first. */
extern int kunit_add_action(struct kunit *test, void (*action)(void *data), void *data);
extern int kunit_add_action_or_reset(struct kunit *test, void (*action)(void *data), void *data);
extern void kunit_remove_action(struct kunit *test, void (*action)(void *data), void *data);
extern void kunit_release_action(struct kunit *test, void (*action)(void *data), void *data);
extern void *kunit_kmalloc_array(struct kunit *test, size_t n, size_t size, gfp_t gfp);
extern void kunit_kfree(struct kunit *test, const void *ptr);
/* Memory of a user, for as long as the case runs. Return: its address, 0 if there is none. */
extern unsigned long kunit_vm_mmap(struct kunit *test, struct file *file, unsigned long addr, unsigned long len,
				   unsigned long prot, unsigned long flag, unsigned long offset);
#define kunit_kmalloc(test, size, gfp) kunit_kmalloc_array(test, 1, size, gfp)
#define kunit_kzalloc(test, size, gfp) kunit_kmalloc_array(test, 1, size, (gfp) | __GFP_ZERO)
#define kunit_kcalloc(test, n, size, gfp) kunit_kmalloc_array(test, n, size, (gfp) | __GFP_ZERO)

/* Suites stand in a section, which is run when the module's init, if it has one, went well. */
#define kunit_test_suites(...) \
	static struct kunit_suite *const __UNIQUE_ID(kapi_suites)[] __used __section("kapi_suites") \
		__aligned(sizeof(void *)) = { __VA_ARGS__ }
#define kunit_test_suite(suite) kunit_test_suites(&suite)
/* Here nothing of an init section goes away. */
#define kunit_test_init_section_suites(...) kunit_test_suites(__VA_ARGS__)
#define kunit_test_init_section_suite(suite) kunit_test_suites(&suite)

#define kunit_log(level, test, fmt, ...) printk(level "    # %s: " fmt "\n", (test)->name, ##__VA_ARGS__)
#define kunit_info(test, fmt, ...) kunit_log(KERN_INFO, test, fmt, ##__VA_ARGS__)
#define kunit_warn(test, fmt, ...) kunit_log(KERN_WARNING, test, fmt, ##__VA_ARGS__)
#define kunit_err(test, fmt, ...) kunit_log(KERN_ERR, test, fmt, ##__VA_ARGS__)
#define kunit_mark_skipped(test, fmt, ...) kapi_kunit_skip(test, false, fmt, ##__VA_ARGS__)
#define kunit_skip(test, fmt, ...) kapi_kunit_skip(test, true, fmt, ##__VA_ARGS__)
#define KUNIT_SUCCEED(test) do { } while (0)

#define __KUNIT_IF(test, stop, holds, expected, ...) \
	do { \
		if (!(holds)) \
			kapi_kunit_fail(test, stop, __FILE__, __LINE__, expected, NULL, __VA_ARGS__); \
	} while (0)
#define __KUNIT_TWO(test, stop, left, op, right, cast, ...) \
	do { \
		typeof((left) + 0) __kapi_left = (left); \
		typeof((right) + 0) __kapi_right = (right); \
		if (!(__kapi_left op __kapi_right)) \
			kapi_kunit_fail(test, stop, __FILE__, __LINE__, #left " " #op " " #right, \
					(long long[]){ (long long)cast __kapi_left, (long long)cast __kapi_right }, \
					__VA_ARGS__); \
	} while (0)
#define __KUNIT_STR(test, stop, left, op, right, ...) \
	__KUNIT_IF(test, stop, strcmp(left, right) op 0, #left " " #op " " #right, __VA_ARGS__)
#define __KUNIT_MEM(test, stop, left, right, n, ...) \
	__KUNIT_IF(test, stop, !memcmp(left, right, n), #left " holds what " #right " does", \
		   __VA_ARGS__)
#define __KUNIT_MEMN(test, stop, left, right, n, ...) \
	__KUNIT_IF(test, stop, memcmp(left, right, n), #left " differs from " #right, __VA_ARGS__)

#define KUNIT_FAIL_AND_ABORT(test, ...) \
	kapi_kunit_fail(test, true, __FILE__, __LINE__, "not to come here", NULL, __VA_ARGS__)
#define KUNIT_FAIL(test, ...) kapi_kunit_fail(test, false, __FILE__, __LINE__, "not to come here", NULL, __VA_ARGS__)

/* An expectation goes on, an assertion ends the case. */
#define KUNIT_EXPECT_TRUE(test, c) __KUNIT_IF(test, false, c, #c, "")
#define KUNIT_EXPECT_TRUE_MSG(test, c, ...) __KUNIT_IF(test, false, c, #c, __VA_ARGS__)
#define KUNIT_EXPECT_FALSE(test, c) __KUNIT_IF(test, false, !(c), "!(" #c ")", "")
#define KUNIT_EXPECT_FALSE_MSG(test, c, ...) __KUNIT_IF(test, false, !(c), "!(" #c ")", __VA_ARGS__)
#define KUNIT_EXPECT_NULL(test, c) __KUNIT_IF(test, false, !(c), #c " == NULL", "")
#define KUNIT_EXPECT_NULL_MSG(test, c, ...) __KUNIT_IF(test, false, !(c), #c " == NULL", __VA_ARGS__)
#define KUNIT_EXPECT_NOT_NULL(test, c) __KUNIT_IF(test, false, c, #c " != NULL", "")
#define KUNIT_EXPECT_NOT_NULL_MSG(test, c, ...) __KUNIT_IF(test, false, c, #c " != NULL", __VA_ARGS__)
#define KUNIT_EXPECT_NOT_ERR_OR_NULL(test, c) __KUNIT_IF(test, false, !IS_ERR_OR_NULL(c), #c " is a pointer", "")
#define KUNIT_EXPECT_NOT_ERR_OR_NULL_MSG(test, c, ...) \
	__KUNIT_IF(test, false, !IS_ERR_OR_NULL(c), #c " is a pointer", __VA_ARGS__)
#define KUNIT_EXPECT_EQ(test, a, b) __KUNIT_TWO(test, false, a, ==, b, , "")
#define KUNIT_EXPECT_EQ_MSG(test, a, b, ...) __KUNIT_TWO(test, false, a, ==, b, , __VA_ARGS__)
#define KUNIT_EXPECT_NE(test, a, b) __KUNIT_TWO(test, false, a, !=, b, , "")
#define KUNIT_EXPECT_NE_MSG(test, a, b, ...) __KUNIT_TWO(test, false, a, !=, b, , __VA_ARGS__)
#define KUNIT_EXPECT_LT(test, a, b) __KUNIT_TWO(test, false, a, <, b, , "")
#define KUNIT_EXPECT_LT_MSG(test, a, b, ...) __KUNIT_TWO(test, false, a, <, b, , __VA_ARGS__)
#define KUNIT_EXPECT_LE(test, a, b) __KUNIT_TWO(test, false, a, <=, b, , "")
#define KUNIT_EXPECT_LE_MSG(test, a, b, ...) __KUNIT_TWO(test, false, a, <=, b, , __VA_ARGS__)
#define KUNIT_EXPECT_GT(test, a, b) __KUNIT_TWO(test, false, a, >, b, , "")
#define KUNIT_EXPECT_GT_MSG(test, a, b, ...) __KUNIT_TWO(test, false, a, >, b, , __VA_ARGS__)
#define KUNIT_EXPECT_GE(test, a, b) __KUNIT_TWO(test, false, a, >=, b, , "")
#define KUNIT_EXPECT_GE_MSG(test, a, b, ...) __KUNIT_TWO(test, false, a, >=, b, , __VA_ARGS__)
#define KUNIT_EXPECT_PTR_EQ(test, a, b) __KUNIT_TWO(test, false, a, ==, b, (unsigned long), "")
#define KUNIT_EXPECT_PTR_EQ_MSG(test, a, b, ...) __KUNIT_TWO(test, false, a, ==, b, (unsigned long), __VA_ARGS__)
#define KUNIT_EXPECT_PTR_NE(test, a, b) __KUNIT_TWO(test, false, a, !=, b, (unsigned long), "")
#define KUNIT_EXPECT_PTR_NE_MSG(test, a, b, ...) __KUNIT_TWO(test, false, a, !=, b, (unsigned long), __VA_ARGS__)
#define KUNIT_EXPECT_STREQ(test, a, b) __KUNIT_STR(test, false, a, ==, b, "")
#define KUNIT_EXPECT_STREQ_MSG(test, a, b, ...) __KUNIT_STR(test, false, a, ==, b, __VA_ARGS__)
#define KUNIT_EXPECT_STRNEQ(test, a, b) __KUNIT_STR(test, false, a, !=, b, "")
#define KUNIT_EXPECT_STRNEQ_MSG(test, a, b, ...) __KUNIT_STR(test, false, a, !=, b, __VA_ARGS__)
#define KUNIT_EXPECT_MEMEQ(test, a, b, n) __KUNIT_MEM(test, false, a, b, n, "")
#define KUNIT_EXPECT_MEMEQ_MSG(test, a, b, n, ...) __KUNIT_MEM(test, false, a, b, n, __VA_ARGS__)
#define KUNIT_EXPECT_MEMNEQ(test, a, b, n) __KUNIT_MEMN(test, false, a, b, n, "")
#define KUNIT_EXPECT_MEMNEQ_MSG(test, a, b, n, ...) __KUNIT_MEMN(test, false, a, b, n, __VA_ARGS__)

#define KUNIT_ASSERT_TRUE(test, c) __KUNIT_IF(test, true, c, #c, "")
#define KUNIT_ASSERT_TRUE_MSG(test, c, ...) __KUNIT_IF(test, true, c, #c, __VA_ARGS__)
#define KUNIT_ASSERT_FALSE(test, c) __KUNIT_IF(test, true, !(c), "!(" #c ")", "")
#define KUNIT_ASSERT_FALSE_MSG(test, c, ...) __KUNIT_IF(test, true, !(c), "!(" #c ")", __VA_ARGS__)
#define KUNIT_ASSERT_NULL(test, c) __KUNIT_IF(test, true, !(c), #c " == NULL", "")
#define KUNIT_ASSERT_NULL_MSG(test, c, ...) __KUNIT_IF(test, true, !(c), #c " == NULL", __VA_ARGS__)
#define KUNIT_ASSERT_NOT_NULL(test, c) __KUNIT_IF(test, true, c, #c " != NULL", "")
#define KUNIT_ASSERT_NOT_NULL_MSG(test, c, ...) __KUNIT_IF(test, true, c, #c " != NULL", __VA_ARGS__)
#define KUNIT_ASSERT_NOT_ERR_OR_NULL(test, c) __KUNIT_IF(test, true, !IS_ERR_OR_NULL(c), #c " is a pointer", "")
#define KUNIT_ASSERT_NOT_ERR_OR_NULL_MSG(test, c, ...) \
	__KUNIT_IF(test, true, !IS_ERR_OR_NULL(c), #c " is a pointer", __VA_ARGS__)
#define KUNIT_ASSERT_EQ(test, a, b) __KUNIT_TWO(test, true, a, ==, b, , "")
#define KUNIT_ASSERT_EQ_MSG(test, a, b, ...) __KUNIT_TWO(test, true, a, ==, b, , __VA_ARGS__)
#define KUNIT_ASSERT_NE(test, a, b) __KUNIT_TWO(test, true, a, !=, b, , "")
#define KUNIT_ASSERT_NE_MSG(test, a, b, ...) __KUNIT_TWO(test, true, a, !=, b, , __VA_ARGS__)
#define KUNIT_ASSERT_LT(test, a, b) __KUNIT_TWO(test, true, a, <, b, , "")
#define KUNIT_ASSERT_LT_MSG(test, a, b, ...) __KUNIT_TWO(test, true, a, <, b, , __VA_ARGS__)
#define KUNIT_ASSERT_LE(test, a, b) __KUNIT_TWO(test, true, a, <=, b, , "")
#define KUNIT_ASSERT_LE_MSG(test, a, b, ...) __KUNIT_TWO(test, true, a, <=, b, , __VA_ARGS__)
#define KUNIT_ASSERT_GT(test, a, b) __KUNIT_TWO(test, true, a, >, b, , "")
#define KUNIT_ASSERT_GT_MSG(test, a, b, ...) __KUNIT_TWO(test, true, a, >, b, , __VA_ARGS__)
#define KUNIT_ASSERT_GE(test, a, b) __KUNIT_TWO(test, true, a, >=, b, , "")
#define KUNIT_ASSERT_GE_MSG(test, a, b, ...) __KUNIT_TWO(test, true, a, >=, b, , __VA_ARGS__)
#define KUNIT_ASSERT_PTR_EQ(test, a, b) __KUNIT_TWO(test, true, a, ==, b, (unsigned long), "")
#define KUNIT_ASSERT_PTR_EQ_MSG(test, a, b, ...) __KUNIT_TWO(test, true, a, ==, b, (unsigned long), __VA_ARGS__)
#define KUNIT_ASSERT_PTR_NE(test, a, b) __KUNIT_TWO(test, true, a, !=, b, (unsigned long), "")
#define KUNIT_ASSERT_PTR_NE_MSG(test, a, b, ...) __KUNIT_TWO(test, true, a, !=, b, (unsigned long), __VA_ARGS__)
#define KUNIT_ASSERT_STREQ(test, a, b) __KUNIT_STR(test, true, a, ==, b, "")
#define KUNIT_ASSERT_STREQ_MSG(test, a, b, ...) __KUNIT_STR(test, true, a, ==, b, __VA_ARGS__)
#define KUNIT_ASSERT_STRNEQ(test, a, b) __KUNIT_STR(test, true, a, !=, b, "")
#define KUNIT_ASSERT_STRNEQ_MSG(test, a, b, ...) __KUNIT_STR(test, true, a, !=, b, __VA_ARGS__)
#define KUNIT_ASSERT_MEMEQ(test, a, b, n) __KUNIT_MEM(test, true, a, b, n, "")
#define KUNIT_ASSERT_MEMEQ_MSG(test, a, b, n, ...) __KUNIT_MEM(test, true, a, b, n, __VA_ARGS__)
#define KUNIT_ASSERT_MEMNEQ(test, a, b, n) __KUNIT_MEMN(test, true, a, b, n, "")
#define KUNIT_ASSERT_MEMNEQ_MSG(test, a, b, n, ...) __KUNIT_MEMN(test, true, a, b, n, __VA_ARGS__)

#include <kunit/resource.h>

#endif
