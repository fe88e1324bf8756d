// SPDX-License-Identifier: GPL-2.0-only
/*
 * threeowners: leaks copies of a string from three callers of one kstrdup(),
 * beside many allocations that are freed.
 *
 * The three callers differ in how often they allocate, and nothing frees
 * their objects before the module goes. How many each has made can be read
 * from the parameters of the same names at any time.
 */
#include <linux/compiler.h>
#include <linux/delay.h>
#include <linux/err.h>
#include <linux/gfp.h>
#include <linux/init.h>
#include <linux/jiffies.h>
#include <linux/kernel.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/string.h>

static unsigned int churn = 17;
module_param(churn, uint, 0444);
MODULE_PARM_DESC(churn, "objects that are allocated and freed in each millisecond");

static bool paused;
module_param(paused, bool, 0644);
MODULE_PARM_DESC(paused, "make no more copies");

static unsigned int names, paths, labels;
module_param(names, uint, 0444);
MODULE_PARM_DESC(names, "copies that owner_of_names() has made, 20 a second");
module_param(paths, uint, 0444);
MODULE_PARM_DESC(paths, "copies that owner_of_paths() has made, 10 a second");
module_param(labels, uint, 0444);
MODULE_PARM_DESC(labels, "copies that owner_of_labels() has made, 5 a second");

/* A copy that is kept: its first word links it to the one before. */
static void *kept;

static bool keep(char *copy)
{
	if (!copy)
		return false;
	*(void **)copy = kept;
	kept = copy;
	return true;
}

/* Each has a call of its own, which is what the call stack shows. */
static noinline void owner_of_names(void)
{
	if (keep(kstrdup("the name of a device that is never removed", GFP_KERNEL)))
		names++;
}

static noinline void owner_of_paths(void)
{
	if (keep(kstrdup("/a/path/that/nobody/closes/again/at/all", GFP_KERNEL)))
		paths++;
}

static noinline void owner_of_labels(void)
{
	if (keep(kstrdup("a label that is replaced and not freed", GFP_KERNEL)))
		labels++;
}

static int leak(void *unused)
{
	unsigned int at;

	for (at = 0; !kthread_should_stop(); at++) {
		if (!READ_ONCE(paused)) {
			owner_of_names();
			if (at % 2 == 0)
				owner_of_paths();
			if (at % 4 == 0)
				owner_of_labels();
		}
		msleep(50);
	}
	return 0;
}

/* Strings of the same kind and from the same function, each freed at once. */
static int load(void *unused)
{
	unsigned long done = 0, start = jiffies;

	while (!kthread_should_stop()) {
		unsigned long wanted = jiffies_to_msecs(jiffies - start) * (unsigned long)churn;

		for (; done < wanted && !kthread_should_stop(); done++) {
			kfree(kstrdup("a copy that goes again", GFP_KERNEL));
			if (done % 64 == 0)
				cond_resched();
		}
		msleep(1);
	}
	return 0;
}

static struct task_struct *threads[2];

static void stop(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(threads); i++)
		if (!IS_ERR_OR_NULL(threads[i]))
			kthread_stop(threads[i]);
	while (kept) {
		void *next = *(void **)kept;

		kfree(kept);
		kept = next;
	}
}

static int __init threeowners_init(void)
{
	threads[0] = kthread_run(leak, NULL, "threeowners");
	threads[1] = kthread_run(load, NULL, "threechurn");
	if (IS_ERR(threads[0]) || IS_ERR(threads[1])) {
		stop();
		return -ENOMEM;
	}
	return 0;
}
module_init(threeowners_init);

static void __exit threeowners_exit(void)
{
	stop();
}
module_exit(threeowners_exit);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Leaks strings from three callers of kstrdup()");
