// SPDX-License-Identifier: MIT OR Apache-2.0
// KUnit: runs the cases of suites one after the other and says how each went.
#include "host.h"
#include <kunit/resource.h>
#include <kunit/test.h>

static int say(const char *level, struct kunit *test, const char *what, const char *fmt, va_list args)
{
	char text[256];

	vscnprintf(text, sizeof(text), fmt, args);
	return printk("%s    # %s: %s%s\n", level, test->name, what, strim(text));
}

void kapi_kunit_fail(struct kunit *test, bool stop, const char *file, int line, const char *expected,
		     const long long *found, const char *fmt, ...)
{
	const char *name = strrchr(file, '/');

	printk(KERN_ERR "    # %s: %s FAILED at %s:%d\n", test->name,
	       stop ? "ASSERTION" : "EXPECTATION", name ? name + 1 : file, line);
	printk(KERN_ERR "    # %s: expected %s\n", test->name, expected);
	if (found)
		printk(KERN_ERR "    # %s: found %lld and %lld\n", test->name, found[0], found[1]);
	if (*fmt)
		WITH_ARGS(fmt, say(KERN_ERR, test, "", fmt, args));
	kunit_set_failure(test);
	if (stop)
		kunit_try_catch_throw(&test->try_catch);
}

void kapi_kunit_skip(const char *name, enum kunit_status *status, char *comment, const char *fmt, ...)
{
	WITH_ARGS(fmt, vscnprintf(comment, KUNIT_STATUS_COMMENT_SIZE, fmt, args));
	printk(KERN_INFO "    # %s: SKIP %s\n", name, comment);
	*status = KUNIT_SKIPPED;
}

/* A function that is called in a frame of its own: what goes on after a jump has the caller's variables. */
static noinline bool completes(struct kunit_try_catch *try_catch, void *context)
{
	if (__builtin_setjmp(try_catch->kapi_end))
		return false;
	try_catch->try(context);
	return true;
}

void kunit_try_catch_run(struct kunit_try_catch *try_catch, void *context)
{
	try_catch->context = context;
	try_catch->try_result = 0;
	if (!completes(try_catch, context)) {
		try_catch->try_result = -EFAULT;
		try_catch->catch(context);
	}
}

void kunit_try_catch_throw(struct kunit_try_catch *try_catch) { __builtin_longjmp(try_catch->kapi_end, 1); }

void kunit_init_test(struct kunit *test, const char *name, struct string_stream *log)
{
	spin_lock_init(&test->lock);
	INIT_LIST_HEAD(&test->resources);
	test->name = name;
	test->log = log;
	test->status = KUNIT_SUCCESS;
	test->status_comment[0] = 0;
}

const void *kunit_array_gen_params(struct kunit *test, const void *prev, char *desc)
{
	struct kunit_params *params = &test->params_array;
	const void *next = prev ? prev + params->elem_size : params->params;

	if (next - params->params >= (long)(params->num_params * params->elem_size))
		return NULL;
	if (params->get_description)
		params->get_description(test, next, desc);
	return next;
}

/* A case of a suite, as it is run. */
struct run {
	struct kunit *test;
	struct kunit_suite *suite;
	struct kunit_case *one;
};

static void try_case(void *context)
{
	struct run *run = context;
	int error = run->suite->init ? run->suite->init(run->test) : 0;

	if (error) {
		kunit_err(run->test, "failed to initialize: %d", error);
		kunit_set_failure(run->test);
	} else {
		run->one->run_case(run->test);
	}
}

/* The expectation that failed was told. */
static void nothing(void *context) {}

static enum kunit_status run_once(struct kunit_suite *suite, struct kunit_case *one, struct kunit *parent,
				  const void *param, int index)
{
	struct kunit test = { .param_value = param, .param_index = index, .parent = parent };
	struct run run = { .test = &test, .suite = suite, .one = one };

	kunit_init_test(&test, one->name, NULL);
	test.try_catch = (struct kunit_try_catch){ .test = &test, .try = try_case, .catch = nothing };
	current->kunit_test = &test;
	kunit_try_catch_run(&test.try_catch, &run);
	if (suite->exit)
		suite->exit(&test);
	/* What is given back may be a function's that the case replaced. */
	kunit_cleanup(&test);
	current->kunit_test = NULL;
	return test.status;
}

static const void *next_param(struct kunit_case *one, struct kunit *test, const void *prev, char *desc)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 18, 0)
	return one->generate_params(test, prev, desc);
#else
	return one->generate_params(prev, desc);
#endif
}

static enum kunit_status run_params(struct kunit_suite *suite, struct kunit_case *one, struct kunit *parent)
{
	enum kunit_status status = KUNIT_SUCCESS, each;
	char desc[KUNIT_PARAM_DESC_SIZE] = "";
	const void *param = NULL;
	int index = 0;

	while ((param = next_param(one, parent, param, desc))) {
		each = run_once(suite, one, parent, param, index++);
		pr_info("        %s %d %s\n", each == KUNIT_FAILURE ? "not ok" : "ok", index, desc);
		if (each == KUNIT_FAILURE)
			status = each;
	}
	return status;
}

static enum kunit_status run_case(struct kunit_suite *suite, struct kunit_case *one)
{
	struct kunit parent = {};
	enum kunit_status status;

	if (suite->status == KUNIT_SKIPPED)
		return KUNIT_SKIPPED;
	if (!one->generate_params)
		return run_once(suite, one, NULL, NULL, 0);
	kunit_init_test(&parent, one->name, NULL);
	if (one->param_init && one->param_init(&parent)) {
		kunit_err(&parent, "failed to initialize its parameters");
		status = KUNIT_FAILURE;
	} else {
		status = run_params(suite, one, &parent);
		if (one->param_exit)
			one->param_exit(&parent);
	}
	kunit_cleanup(&parent);
	return status;
}

static bool run_suite(struct kunit_suite *suite)
{
	struct kunit_case *one;
	bool good = true;
	int number = 0;

	for (one = suite->test_cases; one->run_case; one++)
		number++;
	pr_info("    # Subtest: %s\n    1..%d\n", suite->name, number);
	suite->status = KUNIT_SUCCESS;
	if (suite->suite_init && suite->suite_init(suite))
		return false;
	number = 0;
	for (one = suite->test_cases; one->run_case; one++) {
		enum kunit_status status = run_case(suite, one);

		pr_info("    %s %d %s%s\n", status == KUNIT_FAILURE ? "not ok" : "ok", ++number,
			one->name, status == KUNIT_SKIPPED ? " # SKIP" : "");
		good = good && status != KUNIT_FAILURE;
	}
	if (suite->suite_exit)
		suite->suite_exit(suite);
	return good;
}

/* The section of the module's suites. */
extern struct kunit_suite *const __start_kapi_suites[] __attribute__((__weak__, __visibility__("hidden")));
extern struct kunit_suite *const __stop_kapi_suites[] __attribute__((__weak__, __visibility__("hidden")));

int kapi_run_suites(void)
{
	long number, count = __stop_kapi_suites - __start_kapi_suites;
	bool good = true;

	if (!count)
		return 0;
	pr_info("KTAP version 1\n1..%ld\n", count);
	for (number = 0; number < count; number++) {
		struct kunit_suite *suite = __start_kapi_suites[number];
		bool went_well = run_suite(suite);

		pr_info("%s %ld %s%s\n", went_well ? "ok" : "not ok", number + 1, suite->name,
			suite->status == KUNIT_SKIPPED ? " # SKIP" : "");
		good = good && went_well;
	}
	return good ? 0 : -EIO;
}
