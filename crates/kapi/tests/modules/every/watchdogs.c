/* What tests of lockups touch: watchdogs, precise sleeping, CPUs that stay, reads that may fault. */
#include <linux/cpu.h>
#include <linux/fs.h>
#include <linux/hrtimer.h>
#include <linux/module.h>
#include <linux/nmi.h>
#include <linux/sched.h>
#include <linux/uaccess.h>
#include "check.h"

static int __init watchdogs_init(void)
{
	ktime_t while_ns = ns_to_ktime(2000000), until, begun = ktime_get();
	struct super_block super = { };
	long value = 0, there = 4711;

	touch_softlockup_watchdog();
	touch_softlockup_watchdog_sync();
	touch_all_softlockup_watchdogs();
	touch_nmi_watchdog();
	cpus_read_lock();
	IS(cpus_read_trylock(), 1);
	cpus_read_unlock();
	cpus_read_unlock();
	set_current_state(TASK_UNINTERRUPTIBLE);
	current->in_iowait = 1;
	IS(schedule_hrtimeout(&while_ns, HRTIMER_MODE_REL), 0);
	current->in_iowait = 0;
	IS(ktime_to_ns(ktime_sub(ktime_get(), begun)) >= 2000000, true);
	until = ktime_add_ns(ktime_get(), 1000000);
	set_current_state(TASK_INTERRUPTIBLE);
	IS(schedule_hrtimeout_range(&until, 50000, HRTIMER_MODE_ABS), 0);
	IS(schedule_hrtimeout(&until, HRTIMER_MODE_ABS), 0);
	IS(get_kernel_nofault(value, &there), 0);
	IS(value, 4711);
	IS(get_kernel_nofault(value, (long *)8), -EFAULT);
	IS(copy_from_kernel_nofault(&value, (void *)8, sizeof(value)), -EFAULT);
	init_rwsem(&super.s_umount);
	down_write(&super.s_umount);
	up_write(&super.s_umount);
	pr_notice_ratelimited("once in a while\n");
	return result();
}
module_init(watchdogs_init);
MODULE_LICENSE("GPL");
