/* Delays, each by a file: a loop that is busy, one that yields, a queue's timeout and the scheduler's; and what time it is. */
#include <linux/delay.h>
#include <linux/errno.h>
#include <linux/fs.h>
#include <linux/init.h>
#include <linux/jiffies.h>
#include <linux/kernel.h>
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/proc_fs.h>
#include <linux/sched.h>
#include <linux/seq_file.h>
#include <linux/time.h>
#include <linux/types.h>
#include <linux/wait.h>
#include <asm/hardirq.h>

static int delay = 2;
module_param(delay, int, 0);

enum way { WAY_BUSY, WAY_YIELD, WAY_QUEUE, WAY_SCHEDULE };

static int delay_show(struct seq_file *m, void *v)
{
	unsigned long begin = jiffies, end = begin + delay;
	wait_queue_head_t wait;
	long way = (long)m->private;

	init_waitqueue_head(&wait);
	switch (way) {
	case WAY_BUSY:
		while (time_before(jiffies, end))
			cpu_relax();
		break;
	case WAY_YIELD:
		while (time_before(jiffies, end))
			schedule();
		break;
	case WAY_QUEUE:
		if (wait_event_interruptible_timeout(wait, 0, delay))
			return -EINTR;
		break;
	case WAY_SCHEDULE:
		set_current_state(TASK_INTERRUPTIBLE);
		if (schedule_timeout(delay))
			return -EINTR;
		break;
	}
	seq_printf(m, "way %ld: late %d\n", way, time_before(jiffies, end));
	return 0;
}

static int delay_open(struct inode *inode, struct file *file)
{
	return single_open(file, delay_show, pde_data(inode));
}

static const struct proc_ops delay_ops = {
	.proc_open = delay_open,
	.proc_read = seq_read,
	.proc_lseek = seq_lseek,
	.proc_release = single_release,
};

static int now_show(struct seq_file *m, void *v)
{
	unsigned long j1 = jiffies;
	u64 j2 = get_jiffies_64();
	struct timespec64 real, coarse, boot, raw;
	ktime_t before = ktime_get();

	ktime_get_real_ts64(&real);
	ktime_get_coarse_real_ts64(&coarse);
	ktime_get_boottime_ts64(&boot);
	ktime_get_raw_ts64(&raw);
	seq_printf(m, "jiffies %d, real %d, coarse %d, boot %d, raw %d\n", (u32)j2 - (u32)j1 < 100, real.tv_sec > 1000000000,
		   coarse.tv_sec <= real.tv_sec, boot.tv_nsec < NSEC_PER_SEC, raw.tv_nsec < NSEC_PER_SEC);
	ndelay(100);
	udelay(10);
	mdelay(1);
	usleep_range(1000, 1100);
	seq_printf(m, "delays took 2 ms: %d\n", ktime_to_us(ktime_sub(ktime_get(), before)) >= 2000);
	seq_printf(m, "%u ms, %u us, %lu jiffies, %lu seconds, %d of 1000\n", jiffies_to_msecs(HZ), jiffies_to_usecs(HZ),
		   msecs_to_jiffies(2000) / HZ, usecs_to_jiffies(3000000) / HZ, 1000 % HZ);
	seq_printf(m, "after %d %d %d\n", time_after(j1 + 1, j1), time_after_eq(j1, j1), time_in_range(j1, j1, j1 + 1));
	return 0;
}

static int __init jit_init(void)
{
	proc_create_single("currentime", 0, NULL, now_show);
	proc_create_data("jitbusy", 0, NULL, &delay_ops, (void *)WAY_BUSY);
	proc_create_data("jitsched", 0, NULL, &delay_ops, (void *)WAY_YIELD);
	proc_create_data("jitqueue", 0, NULL, &delay_ops, (void *)WAY_QUEUE);
	proc_create_data("jitschedto", 0, NULL, &delay_ops, (void *)WAY_SCHEDULE);
	return 0;
}

static void __exit jit_exit(void)
{
	remove_proc_entry("currentime", NULL);
	remove_proc_entry("jitbusy", NULL);
	remove_proc_entry("jitsched", NULL);
	remove_proc_entry("jitqueue", NULL);
	remove_proc_entry("jitschedto", NULL);
}

module_init(jit_init);
module_exit(jit_exit);
MODULE_LICENSE("Dual BSD/GPL");
