// Nothing is wrong here: hrtimer restarts.
#include <linux/module.h>
#include <linux/hrtimer.h>
#include <linux/delay.h>

static struct hrtimer timer;
static int ticks;

static enum hrtimer_restart tick(struct hrtimer *t)
{
	hrtimer_forward_now(t, ms_to_ktime(1));
	return ++ticks < 5 ? HRTIMER_RESTART : HRTIMER_NORESTART;
}

static int __init begin(void)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 13, 0)
	hrtimer_setup(&timer, tick, CLOCK_MONOTONIC, HRTIMER_MODE_REL);
#else
	hrtimer_init(&timer, CLOCK_MONOTONIC, HRTIMER_MODE_REL);
	timer.function = tick;
#endif
	hrtimer_start(&timer, ms_to_ktime(1), HRTIMER_MODE_REL);
	msleep(20);
	return 0;
}

static void __exit end(void)
{
	hrtimer_cancel(&timer);
}

module_init(begin);
module_exit(end);
MODULE_LICENSE("GPL");
