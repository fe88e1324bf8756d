// SPDX-License-Identifier: MIT OR Apache-2.0
// Functions that KUnit's cases replace, and warnings that they expect.
#include "host.h"
#include <kunit/resource.h>
#include <kunit/static_stub.h>
#include <kunit/test.h>

/* The data of the resource that stands for a replaced function. */
struct stub {
	void *real, *replacement;
};

static void free_stub(struct kunit_resource *res) { kfree(res->data); }

static bool is_stub(struct kunit *test, struct kunit_resource *res, void *real)
{
	return res->free == free_stub && ((struct stub *)res->data)->real == real;
}

void *kapi_kunit_stub(struct kunit *test, void *real)
{
	struct kunit_resource *res = test ? kunit_find_resource(test, is_stub, real) : NULL;
	void *replacement = res ? ((struct stub *)res->data)->replacement : NULL;

	if (res)
		kunit_put_resource(res);
	return replacement;
}

void __kunit_activate_static_stub(struct kunit *test, void *real, void *replacement)
{
	struct kunit_resource *res;
	struct stub *stub;

	if (!replacement) {
		kunit_deactivate_static_stub(test, real);
		return;
	}
	res = kunit_find_resource(test, is_stub, real);
	if (res) {
		((struct stub *)res->data)->replacement = replacement;
		kunit_put_resource(res);
		return;
	}
	stub = kmalloc(sizeof(*stub), GFP_KERNEL);
	BUG_ON(!stub);
	*stub = (struct stub){ .real = real, .replacement = replacement };
	kunit_alloc_resource(test, NULL, free_stub, GFP_KERNEL, stub);
}

void kunit_deactivate_static_stub(struct kunit *test, void *real)
{
	WARN_ON(kunit_destroy_resource(test, is_stub, real));
}

struct kunit_suppressed_warning {
	struct kunit *test;
	struct task_struct *task;
	int count;
};

static void end_suppression(void *data)
{
	struct kunit_suppressed_warning *warning = data;

	if (warning->task->kapi_warnings == &warning->count)
		warning->task->kapi_warnings = NULL;
}

struct kunit_suppressed_warning *kunit_start_suppress_warning(struct kunit *test)
{
	struct kunit_suppressed_warning *warning;

	if (kunit_has_active_suppress_warning()) {
		KUNIT_FAIL(test, "warnings are suppressed already");
		return NULL;
	}
	warning = kunit_kzalloc(test, sizeof(*warning), GFP_KERNEL);
	if (!warning || kunit_add_action(test, end_suppression, warning)) {
		KUNIT_FAIL(test, "no memory to suppress warnings");
		return NULL;
	}
	*warning = (struct kunit_suppressed_warning){ .test = test, .task = current };
	current->kapi_warnings = &warning->count;
	return warning;
}

void kunit_end_suppress_warning(struct kunit *test, struct kunit_suppressed_warning *warning)
{
	if (warning)
		kunit_release_action(test, end_suppression, warning);
}

int kunit_suppressed_warning_count(struct kunit_suppressed_warning *warning) { return warning ? warning->count : 0; }
bool kunit_has_active_suppress_warning(void) { return current->kapi_warnings; }

void kapi_kunit_suppress_end(struct kunit_suppressed_warning **warning)
{
	if (*warning)
		kunit_end_suppress_warning((*warning)->test, *warning);
}
