/* Threads that wait for each other: a machine's crank before its flywheel by completions, and one that is asked to stop. */
#include <linux/completion.h>
#include <linux/delay.h>
#include <linux/err.h>
#include <linux/init.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/printk.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/version.h>

static struct completion crank_comp;
static struct completion flywheel_comp;
static DECLARE_COMPLETION(works);
static struct task_struct *worker;

static int machine_crank_thread(void *arg)
{
	pr_info("Turn the crank\n");
	complete_all(&crank_comp);
#if LINUX_VERSION_CODE >= KERNEL_VERSION(5, 17, 0)
	kthread_complete_and_exit(&crank_comp, 0);
#else
	complete_and_exit(&crank_comp, 0);
#endif
}

static int machine_flywheel_spinup_thread(void *arg)
{
	wait_for_completion(&crank_comp);
	pr_info("Flywheel spins up\n");
	complete_all(&flywheel_comp);
#if LINUX_VERSION_CODE >= KERNEL_VERSION(5, 17, 0)
	kthread_complete_and_exit(&flywheel_comp, 0);
#else
	complete_and_exit(&flywheel_comp, 0);
#endif
}

static int simple_kthread(void *arg)
{
	allow_signal(SIGINT);
	allow_signal(SIGQUIT);
	complete(&works);
	while (!kthread_should_stop()) {
		set_current_state(TASK_INTERRUPTIBLE);
		if (!kthread_should_stop())
			schedule();
		__set_current_state(TASK_RUNNING);
		if (signal_pending(current))
			break;
	}
	return current->mm ? 1 : 42;
}

static int __init order_init(void)
{
	struct task_struct *crank_thread, *flywheel_thread;

	init_completion(&crank_comp);
	init_completion(&flywheel_comp);
	crank_thread = kthread_create(machine_crank_thread, NULL, "KThread Crank");
	if (IS_ERR(crank_thread))
		return -1;
	flywheel_thread = kthread_create(machine_flywheel_spinup_thread, NULL, "KThread Flywheel");
	if (IS_ERR(flywheel_thread)) {
		kthread_stop(crank_thread);
		return -1;
	}
	wake_up_process(flywheel_thread);
	wake_up_process(crank_thread);
	worker = kthread_run(simple_kthread, NULL, "%s/%d", "lkmpg", 1);
	if (IS_ERR(worker))
		return PTR_ERR(worker);
	get_task_struct(worker);
	return 0;
}

static void __exit order_exit(void)
{
	wait_for_completion(&crank_comp);
	wait_for_completion(&flywheel_comp);
	/* A thread that is stopped before it began returns -EINTR. */
	wait_for_completion(&works);
	pr_info("%s returned %d\n", worker->comm, kthread_stop(worker));
	put_task_struct(worker);
}

module_init(order_init);
module_exit(order_exit);
MODULE_LICENSE("GPL");
