/* A reader that sleeps while a timer fires again and again; the same with a tasklet of either priority. */
#include <linux/errno.h>
#include <linux/fs.h>
#include <linux/init.h>
#include <linux/interrupt.h>
#include <linux/jiffies.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/proc_fs.h>
#include <linux/sched.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/timer.h>
#include <linux/version.h>
#include <linux/wait.h>

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 2, 0)
#define timer_delete_sync del_timer_sync
#endif
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 16, 0)
#define timer_container_of from_timer
#endif

static int tdelay = 1;
module_param(tdelay, int, 0);
#define LOOPS 5

struct run {
	struct timer_list timer;
	struct tasklet_struct tasklet;
	struct seq_file *m;
	wait_queue_head_t wait;
	unsigned long previous;
	int high, loops, late;
};

static void tell(struct run *run, const char *who)
{
	unsigned long now = jiffies;

	if (now < run->previous)
		run->late++;
	run->previous = now;
	seq_printf(run->m, "%s %d: irq %d, softirq %d, atomic %d\n", who, LOOPS - run->loops, !!in_hardirq(),
		   !!in_serving_softirq(), !!in_atomic());
}

static void timer_fires(struct timer_list *t)
{
	struct run *run = timer_container_of(run, t, timer);

	tell(run, "timer");
	if (--run->loops)
		mod_timer(&run->timer, run->timer.expires + tdelay);
	else
		wake_up_interruptible(&run->wait);
}

static int timer_show(struct seq_file *m, void *v)
{
	struct run *run = kzalloc(sizeof(*run), GFP_KERNEL);
	int pending;

	if (!run)
		return -ENOMEM;
	init_waitqueue_head(&run->wait);
	run->m = m;
	run->loops = LOOPS;
	run->previous = jiffies;
	seq_printf(m, "reader: irq %d, atomic %d\n", !!in_interrupt(), !!in_atomic());
	timer_setup(&run->timer, timer_fires, 0);
	run->timer.expires = jiffies + tdelay;
	add_timer(&run->timer);
	pending = timer_pending(&run->timer);
	wait_event_interruptible(run->wait, !run->loops);
	timer_delete_sync(&run->timer);
	seq_printf(m, "was pending %d, is pending %d, late %d\n", pending, timer_pending(&run->timer), run->late);
	kfree(run);
	return 0;
}

static void tasklet_runs(unsigned long data)
{
	struct run *run = (struct run *)data;

	tell(run, run->high ? "high" : "low");
	if (--run->loops) {
		if (run->high)
			tasklet_hi_schedule(&run->tasklet);
		else
			tasklet_schedule(&run->tasklet);
	} else {
		wake_up_interruptible(&run->wait);
	}
}

static int tasklet_show(struct seq_file *m, void *v)
{
	struct run *run = kzalloc(sizeof(*run), GFP_KERNEL);

	if (!run)
		return -ENOMEM;
	init_waitqueue_head(&run->wait);
	run->m = m;
	run->loops = LOOPS;
	run->high = m->private != NULL;
	tasklet_init(&run->tasklet, tasklet_runs, (unsigned long)run);
	tasklet_disable(&run->tasklet);
	tasklet_schedule(&run->tasklet);
	tasklet_enable(&run->tasklet);
	wait_event_interruptible(run->wait, !run->loops);
	tasklet_kill(&run->tasklet);
	kfree(run);
	return 0;
}

static int __init timers_init(void)
{
	proc_create_single("jitimer", 0, NULL, timer_show);
	proc_create_single_data("jitasklet", 0, NULL, tasklet_show, NULL);
	proc_create_single_data("jitasklethi", 0, NULL, tasklet_show, (void *)1);
	return 0;
}

static void __exit timers_exit(void)
{
	remove_proc_entry("jitimer", NULL);
	remove_proc_entry("jitasklet", NULL);
	remove_proc_entry("jitasklethi", NULL);
}

module_init(timers_init);
module_exit(timers_exit);
MODULE_LICENSE("Dual BSD/GPL");
