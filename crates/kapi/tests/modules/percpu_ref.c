// A percpu-refcount: threads take and give references while it is killed, and it comes back to life.
#include <linux/completion.h>
#include <linux/delay.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/percpu-refcount.h>
#include <linux/sched.h>

#define THREADS 4
static struct percpu_ref ref;
static struct completion released, confirmed;
static atomic_t held, refused, releases, alive_at_release;
static struct task_struct *threads[THREADS];

static void release(struct percpu_ref *r)
{
	atomic_inc(&releases);
	atomic_set(&alive_at_release, atomic_read(&held));
	complete(&released);
}

static void confirm(struct percpu_ref *r)
{
	complete(&confirmed);
}

/* Holds some references at a time; a dead one gives no more. */
static int user(void *unused)
{
	int mine = 0, i;

	for (i = 0; !kthread_should_stop(); i++) {
		if (mine < 3 && percpu_ref_tryget_live(&ref)) {
			atomic_inc(&held);
			mine++;
		} else if (mine) {
			atomic_dec(&held);
			percpu_ref_put(&ref);
			mine--;
		} else {
			atomic_inc(&refused);
			schedule_timeout_interruptible(1);
		}
		if (i % 64 == 0)
			cond_resched();
	}
	while (mine--) {
		atomic_dec(&held);
		percpu_ref_put(&ref);
	}
	return 0;
}

static void kill_and_wait(void)
{
	reinit_completion(&released);
	reinit_completion(&confirmed);
	percpu_ref_kill_and_confirm(&ref, confirm);
	wait_for_completion(&confirmed);
	wait_for_completion(&released);
	pr_info("percpu_ref: released %d, held %d, dying %d, zero %d, live %d\n", atomic_read(&releases),
		atomic_read(&alive_at_release), percpu_ref_is_dying(&ref), percpu_ref_is_zero(&ref),
		percpu_ref_tryget_live(&ref));
}

static int __init percpu_ref_test_init(void)
{
	int i, round;

	init_completion(&released);
	init_completion(&confirmed);
	if (percpu_ref_init(&ref, release, PERCPU_REF_ALLOW_REINIT, GFP_KERNEL))
		return -ENOMEM;
	pr_info("percpu_ref: dying %d, zero %d\n", percpu_ref_is_dying(&ref), percpu_ref_is_zero(&ref));
	for (i = 0; i < THREADS; i++)
		threads[i] = kthread_run(user, NULL, "user/%d", i);
	for (round = 0; round < 3; round++) {
		msleep(20);
		kill_and_wait();
		percpu_ref_reinit(&ref);
	}
	percpu_ref_switch_to_atomic_sync(&ref);
	msleep(5);
	percpu_ref_switch_to_percpu(&ref);
	msleep(5);
	for (i = 0; i < THREADS; i++)
		kthread_stop(threads[i]);
	kill_and_wait();
	percpu_ref_exit(&ref);
	pr_info("percpu_ref: some were refused %d\n", atomic_read(&refused) > 0);
	return 0;
}

static void __exit percpu_ref_test_exit(void)
{
}
module_init(percpu_ref_test_init);
module_exit(percpu_ref_test_exit);
MODULE_LICENSE("GPL");
