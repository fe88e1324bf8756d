/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * A function that runs in a task, in a soft interrupt and in an interrupt at the same time.
 *
 * Linux counterpart: include/kunit/run-in-irq-context.h @ 6.18.
 */
#ifndef _KUNIT_RUN_IN_IRQ_CONTEXT_H
#define _KUNIT_RUN_IN_IRQ_CONTEXT_H

#include <kunit/test.h>
#include <linux/types.h>

/* Until the task made @max_iterations, or for a second, and each context made one; the test fails if a call returns false. */
extern void kunit_run_irq_test(struct kunit *test, bool (*func)(void *), int max_iterations, void *test_specific_state);

#endif
