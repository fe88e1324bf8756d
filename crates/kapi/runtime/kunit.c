// SPDX-License-Identifier: MIT OR Apache-2.0
// KUnit: runs the cases of suites one after the other and says how each went.
#include "host.h"
#include <kunit/static_stub.h>
#include <kunit/test.h>

/* A function that a case replaced. */
struct stub {
	struct list_head list;
	void *real, *replacement;
};

static struct stub *stub_of(struct kunit *test, void *real)
{
	struct stub *stub;

	list_for_each_entry(stub, &test->kapi_stubs, list)
		if (stub->real == real)
			return stub;
	return NULL;
}

void *kapi_kunit_stub(struct kunit *test, void *real)
{
	struct stub *stub = test ? stub_of(test, real) : NULL;

	return stub ? stub->replacement : NULL;
}

void __kunit_activate_static_stub(struct kunit *test, void *real, void *replacement)
{
	struct stub *stub = stub_of(test, real);

	if (!stub) {
		stub = kapi_alloc(sizeof(*stub));
		BUG_ON(!stub);
		stub->real = real;
		list_add(&stub->list, &test->kapi_stubs);
	}
	stub->replacement = replacement;
}

void kunit_deactivate_static_stub(struct kunit *test, void *real)
{
	struct stub *stub = stub_of(test, real);

	if (WARN_ON(!stub))
		return;
	list_del(&stub->list);
	kapi_free(stub, sizeof(*stub));
}

/* In front of a block that a case allocated. */
struct block {
	struct list_head list;
	char data[] __attribute__((__aligned__(16)));
};

void *kunit_kmalloc_array(struct kunit *test, size_t n, size_t size, gfp_t gfp)
{
	size_t bytes;
	struct block *block;

	if (check_mul_overflow(n, size, &bytes) || check_add_overflow(bytes, sizeof(*block), &bytes))
		return NULL;
	block = kmalloc(bytes, gfp);
	if (!block)
		return NULL;
	list_add(&block->list, &test->kapi_blocks);
	return block->data;
}

void kunit_kfree(struct kunit *test, const void *ptr)
{
	if (ptr) {
		struct block *block = container_of(ptr, struct block, data);

		list_del(&block->list);
		kfree(block);
	}
}

/* What a case wants done when it is over. */
struct action {
	struct list_head list;
	void (*call)(void *data);
	void *data;
};

int kunit_add_action(struct kunit *test, void (*call)(void *data), void *data)
{
	struct action *action = kapi_alloc(sizeof(*action));

	if (!action)
		return -ENOMEM;
	action->call = call;
	action->data = data;
	list_add(&action->list, &test->kapi_actions);
	return 0;
}

int kunit_add_action_or_reset(struct kunit *test, void (*call)(void *data), void *data)
{
	int error = kunit_add_action(test, call, data);

	if (error)
		call(data);
	return error;
}

static bool forget(struct kunit *test, void (*call)(void *data), void *data)
{
	struct action *action;

	list_for_each_entry(action, &test->kapi_actions, list)
		if (action->call == call && action->data == data) {
			list_del(&action->list);
			kapi_free(action, sizeof(*action));
			return true;
		}
	return false;
}

void kunit_remove_action(struct kunit *test, void (*call)(void *data), void *data) { forget(test, call, data); }

void kunit_release_action(struct kunit *test, void (*call)(void *data), void *data)
{
	if (forget(test, call, data))
		call(data);
}

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
	test->status = KUNIT_FAILURE;
	if (stop)
		__builtin_longjmp(test->kapi_end, 1);
}

void kapi_kunit_skip(struct kunit *test, bool stop, const char *fmt, ...)
{
	WITH_ARGS(fmt, say(KERN_INFO, test, "skipped: ", fmt, args));
	test->status = KUNIT_SKIPPED;
	if (stop)
		__builtin_longjmp(test->kapi_end, 1);
}

/* Runs a case; a failed assertion, and a skip, ends it there, in the suite's init too. */
static noinline void run_guarded(struct kunit *test, struct kunit_suite *suite, struct kunit_case *one)
{
	int error;

	if (__builtin_setjmp(test->kapi_end))
		return;
	error = suite->init ? suite->init(test) : 0;
	if (error) {
		kunit_err(test, "failed to initialize: %d", error);
		test->status = KUNIT_FAILURE;
	} else {
		one->run_case(test);
	}
}

static noinline enum kunit_status run_once(struct kunit_suite *suite, struct kunit_case *one,
					   const void *param, int index)
{
	struct kunit test = { .name = one->name, .param_value = param, .param_index = index };

	INIT_LIST_HEAD(&test.kapi_blocks);
	INIT_LIST_HEAD(&test.kapi_stubs);
	INIT_LIST_HEAD(&test.kapi_actions);
	INIT_LIST_HEAD(&test.kapi_resources);
	current->kunit_test = &test;
	run_guarded(&test, suite, one);
	if (suite->exit)
		suite->exit(&test);
	current->kunit_test = NULL;
	while (!list_empty(&test.kapi_stubs))
		kunit_deactivate_static_stub(&test, list_first_entry(&test.kapi_stubs, struct stub, list)->real);
	while (!list_empty(&test.kapi_actions)) {
		struct action *action = list_first_entry(&test.kapi_actions, struct action, list);

		kunit_release_action(&test, action->call, action->data);
	}
	while (!list_empty(&test.kapi_blocks)) {
		struct block *block = list_first_entry(&test.kapi_blocks, struct block, list);

		kunit_kfree(&test, block->data);
	}
	return test.status;
}

static enum kunit_status run_case(struct kunit_suite *suite, struct kunit_case *one)
{
	enum kunit_status status = KUNIT_SUCCESS, each;
	char desc[KUNIT_PARAM_DESC_SIZE] = "";
	const void *param = NULL;
	int index = 0;

	if (!one->generate_params)
		return run_once(suite, one, NULL, 0);
	while ((param = one->generate_params(param, desc))) {
		each = run_once(suite, one, param, index++);
		pr_info("        %s %d %s\n", each == KUNIT_FAILURE ? "not ok" : "ok", index, desc);
		if (each == KUNIT_FAILURE)
			status = each;
	}
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
		bool suite = run_suite(__start_kapi_suites[number]);

		pr_info("%s %ld %s\n", suite ? "ok" : "not ok", number + 1, __start_kapi_suites[number]->name);
		good = good && suite;
	}
	return good ? 0 : -EIO;
}
