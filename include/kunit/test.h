/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* KUnit: test suites as modules. Cases run when the module is loaded; their results go to the log as KTAP.
 *
 * Difference: loading a suite of which a case failed fails (-EIO), so that the exit status tells. */
#ifndef _KUNIT_TEST_H
#define _KUNIT_TEST_H

#include <kunit/assert.h>
#include <kunit/try-catch.h>
#include <linux/err.h>
#include <linux/init.h>
#include <linux/kernel.h>
#include <linux/list.h>
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/string.h>
#include <linux/version.h>

struct file;
struct kunit;
struct string_stream;

#define KUNIT_PARAM_DESC_SIZE 128
#define KUNIT_STATUS_COMMENT_SIZE 256

/* A generator of parameters: it returns the one behind @prev, or NULL. Since 6.18 it gets the case as well. */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 18, 0)
#define KAPI_KUNIT_CASE struct kunit *test,
#else
#define KAPI_KUNIT_CASE
#endif

struct kunit_case {
	void (*run_case)(struct kunit *test);
	const char *name;
	const void *(*generate_params)(KAPI_KUNIT_CASE const void *prev, char *desc);
	/* Before the first parameter and behind the last, with the case that the parameters' cases have as parent. */
	int (*param_init)(struct kunit *test);
	void (*param_exit)(struct kunit *test);
};

#define KUNIT_CASE(test) { .run_case = test, .name = #test }
#define KUNIT_CASE_PARAM(test, generate) { .run_case = test, .name = #test, .generate_params = generate }
#define KUNIT_CASE_PARAM_WITH_INIT(test, generate, before, behind) \
	{ .run_case = test, .name = #test, .generate_params = generate, .param_init = before, .param_exit = behind }
#define KUNIT_CASE_SLOW(test) KUNIT_CASE(test)
#define KUNIT_ARRAY_PARAM(_name, array, get_desc) \
	static const void *_name##_gen_params(KAPI_KUNIT_CASE const void *prev, char *desc) \
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
	static const void *_name##_gen_params(KAPI_KUNIT_CASE const void *prev, char *desc) \
	{ \
		typeof((array)[0]) *kapi_next = prev ? ((typeof(kapi_next))prev) + 1 : (array); \
		if (kapi_next - (array) >= (long)ARRAY_SIZE(array)) \
			return NULL; \
		strscpy(desc, kapi_next->field, KUNIT_PARAM_DESC_SIZE); \
		return kapi_next; \
	}

enum kunit_status {
	KUNIT_SUCCESS,
	KUNIT_FAILURE,
	KUNIT_SKIPPED
};

struct kunit_suite {
	const char name[256];
	int (*suite_init)(struct kunit_suite *suite);
	void (*suite_exit)(struct kunit_suite *suite);
	int (*init)(struct kunit *test);
	void (*exit)(struct kunit *test);
	struct kunit_case *test_cases;
	char status_comment[KUNIT_STATUS_COMMENT_SIZE];
	struct string_stream *log;
	enum kunit_status status;
};

/* The parameters of a case that its param_init made. */
struct kunit_params {
	const void *params;
	void (*get_description)(struct kunit *test, const void *param, char *desc);
	size_t num_params;
	size_t elem_size;
};

struct kunit {
	void *priv;
	struct kunit *parent;
	struct kunit_params params_array;
	const char *name;
	struct string_stream *log;
	struct kunit_try_catch try_catch;
	const void *param_value;
	int param_index;
	spinlock_t lock;
	enum kunit_status status;
	/* What the case has, the newest last: memory, actions, replaced functions among it. */
	struct list_head resources;
	char status_comment[KUNIT_STATUS_COMMENT_SIZE];
};

static inline void kunit_set_failure(struct kunit *test) { WRITE_ONCE(test->status, KUNIT_FAILURE); }

extern void kunit_init_test(struct kunit *test, const char *name, struct string_stream *log);
/* Gives back all that a case has, the newest first. */
extern void kunit_cleanup(struct kunit *test);
/* @found: the two values that were compared, or NULL. */
extern void kapi_kunit_fail(struct kunit *test, bool stop, const char *file, int line, const char *expected,
			    const long long *found, const char *fmt, ...);
/* For a case or a suite. */
extern void kapi_kunit_skip(const char *name, enum kunit_status *status, char *comment, const char *fmt, ...);
/* Called when the case is over, the last first. */
typedef void (kunit_action_t)(void *data);
extern int kunit_add_action(struct kunit *test, kunit_action_t *action, void *data);
extern int kunit_add_action_or_reset(struct kunit *test, kunit_action_t *action, void *data);
extern void kunit_remove_action(struct kunit *test, kunit_action_t *action, void *data);
extern void kunit_release_action(struct kunit *test, kunit_action_t *action, void *data);
/* An action of a function whose argument has another type. */
#define KUNIT_DEFINE_ACTION_WRAPPER(wrapper, function, type) \
	static void wrapper(void *data) { function((type)data); }
extern void *kunit_kmalloc_array(struct kunit *test, size_t n, size_t size, gfp_t gfp);
extern void kunit_kfree(struct kunit *test, const void *ptr);
/* Memory of a user, for as long as the case runs. Return: its address, 0 if there is none. */
extern unsigned long kunit_vm_mmap(struct kunit *test, struct file *file, unsigned long addr, unsigned long len,
				   unsigned long prot, unsigned long flag, unsigned long offset);
#define kunit_kmalloc(test, size, gfp) kunit_kmalloc_array(test, 1, size, gfp)
#define kunit_kzalloc(test, size, gfp) kunit_kmalloc_array(test, 1, size, (gfp) | __GFP_ZERO)
#define kunit_kcalloc(test, n, size, gfp) kunit_kmalloc_array(test, n, size, (gfp) | __GFP_ZERO)

/* The parameters of @test are those of an array; kunit_array_gen_params() walks it. */
#define kunit_register_params_array(test, array, count, describe) \
	((test)->params_array = (struct kunit_params){ \
		.params = (array), .num_params = (count), .elem_size = sizeof((array)[0]), .get_description = (describe) })
extern const void *kunit_array_gen_params(struct kunit *test, const void *prev, char *desc);

/* Warnings of this thread are counted and not told, in the block behind it. */
struct kunit_suppressed_warning;
extern struct kunit_suppressed_warning *kunit_start_suppress_warning(struct kunit *test);
extern void kunit_end_suppress_warning(struct kunit *test, struct kunit_suppressed_warning *warning);
extern int kunit_suppressed_warning_count(struct kunit_suppressed_warning *warning);
extern bool kunit_has_active_suppress_warning(void);
extern void kapi_kunit_suppress_end(struct kunit_suppressed_warning **warning);
#define kunit_warning_suppress(test) \
	for (struct kunit_suppressed_warning *__kapi_suppressed \
		__attribute__((__cleanup__(kapi_kunit_suppress_end))) = kunit_start_suppress_warning(test); \
	     __kapi_suppressed; kapi_kunit_suppress_end(&__kapi_suppressed), __kapi_suppressed = NULL)
#define KUNIT_SUPPRESSED_WARNING_COUNT() kunit_suppressed_warning_count(__kapi_suppressed)
#define KUNIT_EXPECT_SUPPRESSED_WARNING_COUNT(test, expected) \
	KUNIT_EXPECT_EQ(test, KUNIT_SUPPRESSED_WARNING_COUNT(), expected)

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
#define kunit_mark_skipped(test, fmt, ...) \
	kapi_kunit_skip((test)->name, &(test)->status, (test)->status_comment, fmt, ##__VA_ARGS__)
#define kunit_skip(test, fmt, ...) \
	do { \
		kunit_mark_skipped(test, fmt, ##__VA_ARGS__); \
		kunit_try_catch_throw(&(test)->try_catch); \
	} while (0)
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
