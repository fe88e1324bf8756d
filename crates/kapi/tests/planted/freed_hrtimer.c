// left behind: the high-resolution timer `tick` is armed in memory that is freed
#include <linux/module.h>
#include <linux/hrtimer.h>
#include <linux/slab.h>

static enum hrtimer_restart tick(struct hrtimer *timer)
{
	return HRTIMER_NORESTART;
}

static int __init begin(void)
{
	struct hrtimer *timer = kzalloc(sizeof(*timer), GFP_KERNEL);

	if (!timer)
		return -ENOMEM;
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 13, 0)
	hrtimer_setup(timer, tick, CLOCK_MONOTONIC, HRTIMER_MODE_REL);
#else
	hrtimer_init(timer, CLOCK_MONOTONIC, HRTIMER_MODE_REL);
	timer->function = tick;
#endif
	hrtimer_start(timer, ktime_set(60, 0), HRTIMER_MODE_REL);
	kfree(timer); // in
	return 0;
}

static void __exit end(void)
{
}

module_init(begin);
module_exit(end);
MODULE_LICENSE("GPL");
