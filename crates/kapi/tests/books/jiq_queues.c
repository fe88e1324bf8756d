/* Work that queues itself until a page is nearly full, at once and delayed; each reader sleeps meanwhile. */
#include <linux/errno.h>
#include <linux/fs.h>
#include <linux/init.h>
#include <linux/interrupt.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/preempt.h>
#include <linux/proc_fs.h>
#include <linux/sched.h>
#include <linux/seq_file.h>
#include <linux/workqueue.h>

static long delay = 1;
module_param(delay, long, 0);

static DECLARE_WAIT_QUEUE_HEAD(filled);
static struct {
	struct work_struct work;
	struct delayed_work later;
	struct seq_file *m;
	unsigned long jiffies;
	long delay;
	int lines, done;
} queued;

static void tell_old(unsigned long);
#ifdef DECLARE_TASKLET_OLD
static DECLARE_TASKLET_OLD(old_tasklet, tell_old);
#endif

static int tell(const char *where)
{
	unsigned long now = jiffies;

	if (queued.lines == 4) {
		queued.done = 1;
		wake_up_interruptible(&filled);
		return 0;
	}
	if (!queued.lines++)
		seq_puts(queued.m, "   delta preempt worker\n");
	seq_printf(queued.m, "%8d %7i %6d %s\n", now - queued.jiffies >= queued.delay, preempt_count() & 0xff,
		   !!(current->flags & PF_WQ_WORKER), where);
	queued.jiffies = now;
	return 1;
}

static void work_runs(struct work_struct *work)
{
	if (tell(work_pending(work) ? "pending" : "running"))
		schedule_work(&queued.work);
}

static void later_runs(struct work_struct *work)
{
	struct delayed_work *later = to_delayed_work(work);

	if (tell("later"))
		schedule_delayed_work(later, queued.delay);
}

static void tell_old(unsigned long unused)
{
	if (tell("tasklet"))
		tasklet_schedule(&old_tasklet);
}

static void begin(struct seq_file *m, long each)
{
	queued.m = m;
	queued.lines = queued.done = 0;
	queued.delay = each;
	queued.jiffies = jiffies;
}

static int now_show(struct seq_file *m, void *v)
{
	DEFINE_WAIT(wait);

	begin(m, 0);
	prepare_to_wait(&filled, &wait, TASK_INTERRUPTIBLE);
	schedule_work(&queued.work);
	if (!queued.done)
		schedule();
	finish_wait(&filled, &wait);
	flush_work(&queued.work);
	return 0;
}

static int later_show(struct seq_file *m, void *v)
{
	DECLARE_WAITQUEUE(wait, current);

	begin(m, delay);
	add_wait_queue(&filled, &wait);
	set_current_state(TASK_INTERRUPTIBLE);
	schedule_delayed_work(&queued.later, delay);
	if (!queued.done)
		schedule();
	__set_current_state(TASK_RUNNING);
	remove_wait_queue(&filled, &wait);
	flush_delayed_work(&queued.later);
	return 0;
}

static int tasklet_show(struct seq_file *m, void *v)
{
	begin(m, 0);
	tasklet_schedule(&old_tasklet);
	return wait_event_interruptible(filled, queued.done);
}

static int __init jiq_init(void)
{
	INIT_WORK(&queued.work, work_runs);
	INIT_DELAYED_WORK(&queued.later, later_runs);
	proc_create_single("jiqwq", 0, NULL, now_show);
	proc_create_single("jiqwqdelay", 0, NULL, later_show);
	proc_create_single("jiqtasklet", 0, NULL, tasklet_show);
	return 0;
}

static void __exit jiq_exit(void)
{
	remove_proc_entry("jiqwq", NULL);
	remove_proc_entry("jiqwqdelay", NULL);
	remove_proc_entry("jiqtasklet", NULL);
	cancel_work_sync(&queued.work);
	cancel_delayed_work_sync(&queued.later);
	tasklet_kill(&old_tasklet);
}

module_init(jiq_init);
module_exit(jiq_exit);
MODULE_LICENSE("Dual BSD/GPL");
