// left behind: the high-resolution timer `tick` is still there
#include <linux/module.h>
#include <linux/hrtimer.h>

static struct hrtimer timer;

static enum hrtimer_restart tick(struct hrtimer *timer)
{
	return HRTIMER_NORESTART;
}

static int __init begin(void)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 13, 0)
	hrtimer_setup(&timer, tick, CLOCK_MONOTONIC, HRTIMER_MODE_REL);
#else
	hrtimer_init(&timer, CLOCK_MONOTONIC, HRTIMER_MODE_REL);
	timer.function = tick;
#endif
	hrtimer_start(&timer, ktime_set(60, 0), HRTIMER_MODE_REL); // in
	return 0;
}

static void __exit end(void)
{
}

module_init(begin);
module_exit(end);
MODULE_LICENSE("GPL");
