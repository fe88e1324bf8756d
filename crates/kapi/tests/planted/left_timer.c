// left behind: the timer `tick` is still there
#include <linux/module.h>
#include <linux/timer.h>

static void tick(struct timer_list *timer)
{
}

static DEFINE_TIMER(timer, tick);

static int __init begin(void)
{
	mod_timer(&timer, jiffies + 60 * HZ); // in
	return 0;
}

static void __exit end(void)
{
}

module_init(begin);
module_exit(end);
MODULE_LICENSE("GPL");
